"""The sine."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="sin",
    formula="sin(x)",
    doc="The sine.",
    source="Sitzmann et al., NeurIPS 2020, arXiv:2006.09661",
)
