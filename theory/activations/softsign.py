"""x/(1 + |x|)."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="softsign",
    formula="x/(1 + abs(x))",
    doc="x/(1 + |x|).",
    source="Bergstra et al., 2009; torch.nn.Softsign",
)
