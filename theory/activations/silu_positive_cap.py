"""SiLU up to the threshold t and its value there beyond it."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="silu_positive_cap",
    formula="where(x <= t, x*sigmoid(x), t*sigmoid(t))",
    doc="SiLU up to the threshold t and its value there beyond it.",
    source="MemGLU, Appendix E",
    parameters={"t": "asinh(1)"},
    domains={"t": "(-oo, oo)"},
)
