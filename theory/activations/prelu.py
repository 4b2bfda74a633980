"""x for x > 0 and a*x elsewhere, with a learned slope a."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="prelu",
    formula="where(x > 0, x, a*x)",
    doc="x for x > 0 and a*x elsewhere, with a learned slope a.",
    source="He et al., ICCV 2015, arXiv:1502.01852",
    parameters={"a": "1/4"},
    domains={"a": "(-oo, oo)"},
)
