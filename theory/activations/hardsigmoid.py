"""x/6 + 1/2, clipped to [0, 1]."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="hardsigmoid",
    formula="min(max(x + 3, 0), 6)/6",
    doc="x/6 + 1/2, clipped to [0, 1].",
    source="torch.nn.Hardsigmoid",
)
