"""x + sin(a x)^2/a."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="snake",
    formula="x + sin(a*x)**2/a",
    doc="x + sin(a x)^2/a.",
    source="Ziyin, Hartwig and Ueda, NeurIPS 2020, arXiv:2006.08195",
    parameters={"a": "1"},
    domains={"a": "(0, oo)"},
)
