"""The rectified linear unit, capped at 6."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="relu6",
    formula="min(max(x, 0), 6)",
    doc="The rectified linear unit, capped at 6.",
    source="Krizhevsky, 2010; torch.nn.ReLU6",
)
