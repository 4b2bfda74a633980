"""The inverse hyperbolic sine."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="asinh",
    formula="asinh(x)",
    doc="The inverse hyperbolic sine.",
    source="torch.asinh",
)
