"""x tanh(log(1 + sigmoid(x))), with the tanh of a logarithm written out to keep its left tail."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="smish",
    formula="x*sigmoid(x)*(2 + sigmoid(x))/(2 + 2*sigmoid(x) + sigmoid(x)**2)",
    doc="x tanh(log(1 + sigmoid(x))), with the tanh of a logarithm written out to keep its left tail.",
    source="Wang, Ren and Wang, Electronics 11 (2022) 540",
)
