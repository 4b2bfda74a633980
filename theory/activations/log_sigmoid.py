"""The logarithm of the logistic function."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="log_sigmoid",
    formula="-softplus(-x)",
    doc="The logarithm of the logistic function.",
    source="torch.nn.LogSigmoid",
)
