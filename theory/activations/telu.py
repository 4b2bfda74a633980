"""x times tanh of exp(x)."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="telu",
    formula="x*tanh(exp(x))",
    doc="x times tanh of exp(x).",
    source="Fernandez and Mali, arXiv:2402.02790",
)
