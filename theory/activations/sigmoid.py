"""The logistic function 1/(1 + exp(-x))."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="sigmoid",
    formula="sigmoid(x)",
    doc="The logistic function 1/(1 + exp(-x)).",
    source="torch.nn.Sigmoid",
)
