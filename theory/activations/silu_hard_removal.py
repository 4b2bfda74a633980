"""SiLU up to the threshold t and 0 beyond it."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="silu_hard_removal",
    formula="where(x <= t, x*sigmoid(x), 0)",
    doc="SiLU up to the threshold t and 0 beyond it.",
    source="MemGLU, Appendix E",
    parameters={"t": "asinh(1)"},
    domains={"t": "(-oo, oo)"},
)
