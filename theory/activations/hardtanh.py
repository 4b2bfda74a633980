"""x, clipped to [-1, 1]."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="hardtanh",
    formula="min(max(x, -1), 1)",
    doc="x, clipped to [-1, 1].",
    source="Collobert, 2004; torch.nn.Hardtanh",
)
