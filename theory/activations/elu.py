"""x for x > 0 and a (exp(x) - 1) elsewhere."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="elu",
    formula="where(x > 0, x, a*expm1(x))",
    doc="x for x > 0 and a (exp(x) - 1) elsewhere.",
    source="Clevert, Unterthiner and Hochreiter, ICLR 2016, arXiv:1511.07289",
    parameters={"a": "1"},
    domains={"a": "[0, oo)"},
)
