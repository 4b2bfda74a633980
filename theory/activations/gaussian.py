"""exp(-x^2)."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="gaussian",
    formula="exp(-x**2)",
    doc="exp(-x^2).",
    source="Ramasinghe and Lucey, ECCV 2022, arXiv:2111.15135",
)
