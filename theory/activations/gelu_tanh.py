"""The tanh form of GELU; 0.044715 is the exact decimal."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="gelu_tanh",
    formula="x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))/2",
    doc="The tanh form of GELU; 0.044715 is the exact decimal.",
    source="Hendrycks and Gimpel, arXiv:1606.08415",
)
