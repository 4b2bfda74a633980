"""x times its own logistic gate (also called swish with beta = 1)."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="silu",
    formula="x*sigmoid(x)",
    doc="x times its own logistic gate (also called swish with beta = 1).",
    source="Elfwing, Uchibe and Doya, Neural Networks 107 (2018)",
)
