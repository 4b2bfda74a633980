"""The rectified linear unit, x for x > 0 and 0 elsewhere."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="relu",
    formula="max(x, 0)",
    doc="The rectified linear unit, x for x > 0 and 0 elsewhere.",
    source="Nair and Hinton, ICML 2010",
)
