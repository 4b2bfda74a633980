"""The stand-in for the derivative of the two-sided gate in its threshold d."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="two_sided_surrogate_delta",
    formula="-sign(x)*sigmoid(c*(abs(x) - d))",
    doc="The stand-in for the derivative of the two-sided gate in its threshold d.",
    source="Two-sided gate, formula 3",
    parameters={"d": "1/2", "c": "4"},
    domains={"d": "[0, oo)", "c": "(0, oo)"},
)
