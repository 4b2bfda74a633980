"""SiLU up to the threshold t, led over a width w into a falling tail of rate b."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="silu_smooth_attenuation",
    formula=(
        "where(x <= t, x*sigmoid(x), "
        "where(x < t + w, x*sigmoid(x) + ((x - t)/w)**2*(3 - 2*(x - t)/w)"
        "*(t*sigmoid(t)*exp(-b*softplus(x - t)) - x*sigmoid(x)), "
        "t*sigmoid(t)*exp(-b*softplus(x - t))))"
    ),
    doc="SiLU up to the threshold t, led over a width w into a falling tail of rate b.",
    source="MemGLU, Appendix E",
    parameters={"t": "asinh(1)", "w": "1/2", "b": "1"},
    domains={"t": "(-oo, oo)", "w": "(0, oo)", "b": "[0, oo)"},
)
