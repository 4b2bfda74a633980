"""x times the standard normal distribution function, in the form that keeps its left tail."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="gelu",
    formula="x*erfc(-x/sqrt(2))/2",
    doc="x times the standard normal distribution function, in the form that keeps its left tail.",
    source="Hendrycks and Gimpel, arXiv:1606.08415",
)
