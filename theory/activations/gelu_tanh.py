"""The tanh form of GELU, (1 + tanh u)/2 written as sigmoid(2u) to keep its left tail."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="gelu_tanh",
    formula="x*sigmoid(2*sqrt(2/pi)*(x + 0.044715*x**3))",
    doc="The tanh form of GELU, (1 + tanh u)/2 written as sigmoid(2u) to keep its left tail.",
    source="Hendrycks and Gimpel, arXiv:1606.08415",
)
