"""x times tanh of softplus of x."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="mish",
    formula="x*tanh(softplus(x))",
    doc="x times tanh of softplus of x.",
    source="Misra, BMVC 2020",
)
