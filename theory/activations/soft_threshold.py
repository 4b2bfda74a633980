"""0 for |x| <= d and sign(x) (|x| - d) elsewhere."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="soft_threshold",
    formula="max(x - d, 0) - max(-x - d, 0)",
    doc="0 for |x| <= d and sign(x) (|x| - d) elsewhere.",
    source="Two-sided gate, formula 1; Donoho, IEEE Trans. Inf. Theory 41 (1995)",
    parameters={"d": "1/2"},
    domains={"d": "[0, oo)"},
)
