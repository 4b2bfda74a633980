"""x times its hyperbolic secant."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="resech",
    formula="x*sech(x)",
    doc="x times its hyperbolic secant.",
    source="Njikam and Zhao, Applied Intelligence 45 (2016)",
)
