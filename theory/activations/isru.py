"""x/sqrt(1 + a x^2), in the form that does not overflow."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="isru",
    formula="tanh(asinh(sqrt(a)*x))/sqrt(a)",
    doc="x/sqrt(1 + a x^2), in the form that does not overflow.",
    source="Carlile et al., arXiv:1710.09967",
    parameters={"a": "1"},
    domains={"a": "(0, oo)"},
)
