"""x times a logistic gate of sharpness 1.702, used for GELU."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="quick_gelu",
    formula="x*sigmoid(1.702*x)",
    doc="x times a logistic gate of sharpness 1.702, used for GELU.",
    source="Hendrycks and Gimpel, arXiv:1606.08415",
)
