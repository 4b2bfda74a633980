"""The stand-in for the derivative of the two-sided gate in x."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="two_sided_surrogate",
    formula="sigmoid(c*(abs(x) - d))",
    doc="The stand-in for the derivative of the two-sided gate in x.",
    source="Two-sided gate, formula 2",
    parameters={"d": "1/2", "c": "4"},
    domains={"d": "[0, oo)", "c": "(0, oo)"},
)
