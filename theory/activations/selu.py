"""ELU, scaled so that mean 0 and variance 1 are a fixed point; the constants as published."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="selu",
    formula=("1.0507009873554804934193349852946*where(x > 0, x, 1.6732632423543772848170429916717*expm1(x))"),
    doc="ELU, scaled so that mean 0 and variance 1 are a fixed point; the constants as published.",
    source="Klambauer et al., NIPS 2017, arXiv:1706.02515",
)
