"""x less its hyperbolic tangent."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="tanhshrink",
    formula="x - tanh(x)",
    doc="x less its hyperbolic tangent.",
    source="torch.nn.Tanhshrink",
)
