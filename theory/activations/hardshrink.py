"""0 for |x| <= d and x elsewhere."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="hardshrink",
    formula="where(abs(x) > d, x, 0)",
    doc="0 for |x| <= d and x elsewhere.",
    source="Donoho and Johnstone, Biometrika 81 (1994); torch.nn.Hardshrink",
    parameters={"d": "1/2"},
    domains={"d": "[0, oo)"},
)
