"""x times a logistic gate of sharpness b."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="swish",
    formula="x*sigmoid(b*x)",
    doc="x times a logistic gate of sharpness b.",
    source="Ramachandran, Zoph and Le, arXiv:1710.05941",
    parameters={"b": "1"},
    domains={"b": "(-oo, oo)"},
)
