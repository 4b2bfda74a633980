"""The hyperbolic tangent."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="tanh",
    formula="tanh(x)",
    doc="The hyperbolic tangent.",
    source="torch.nn.Tanh",
)
