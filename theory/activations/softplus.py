"""log(1 + exp(b x))/b, which tends to the rectified linear unit as b grows."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="softplus",
    formula="softplus(b*x)/b",
    doc="log(1 + exp(b x))/b, which tends to the rectified linear unit as b grows.",
    source="Dugas et al., NIPS 2000; torch.nn.Softplus",
    parameters={"b": "1"},
    domains={"b": "(0, oo)"},
)
