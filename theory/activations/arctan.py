"""The inverse tangent."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="arctan",
    formula="atan(x)",
    doc="The inverse tangent.",
    source="torch.arctan",
)
