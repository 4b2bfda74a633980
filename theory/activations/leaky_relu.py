"""x for x > 0 and a*x elsewhere."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="leaky_relu",
    formula="where(x > 0, x, a*x)",
    doc="x for x > 0 and a*x elsewhere.",
    source="Maas, Hannun and Ng, ICML 2013",
    parameters={"a": "1/100"},
    domains={"a": "(-oo, oo)"},
)
