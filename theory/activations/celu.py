"""x for x > 0 and a (exp(x/a) - 1) elsewhere, of slope 1 at 0 for every a."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="celu",
    formula="where(x > 0, x, a*expm1(x/a))",
    doc="x for x > 0 and a (exp(x/a) - 1) elsewhere, of slope 1 at 0 for every a.",
    source="Barron, arXiv:1704.07483",
    parameters={"a": "1"},
    domains={"a": "(0, oo)"},
)
