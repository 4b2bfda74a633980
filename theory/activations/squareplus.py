"""(x + sqrt(x^2 + b))/2, in the form that neither cancels on the left nor overflows."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="squareplus",
    formula="sqrt(b)/2*exp(asinh(x/sqrt(b)))",
    doc="(x + sqrt(x^2 + b))/2, in the form that neither cancels on the left nor overflows.",
    source="Barron, arXiv:2112.11687",
    parameters={"b": "4"},
    domains={"b": "(0, oo)"},
)
