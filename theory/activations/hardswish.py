"""x times its hard sigmoid."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="hardswish",
    formula="x*min(max(x + 3, 0), 6)/6",
    doc="x times its hard sigmoid.",
    source="Howard et al., ICCV 2019, arXiv:1905.02244",
)
