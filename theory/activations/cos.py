"""The cosine."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="cos",
    formula="cos(x)",
    doc="The cosine.",
    source="Rahimi and Recht, NIPS 2007 (random Fourier features)",
)
