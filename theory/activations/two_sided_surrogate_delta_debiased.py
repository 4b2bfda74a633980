"""The stand-in for the derivative in d, less its value at 0: with the one in x it has a potential."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="two_sided_surrogate_delta_debiased",
    formula="-sign(x)*(sigmoid(c*(abs(x) - d)) - sigmoid(-c*d))",
    doc="The stand-in for the derivative in d, less its value at 0: with the one in x it has a potential.",
    source="Two-sided gate, formula 3, corrected",
    parameters={"d": "1/2", "c": "4"},
    domains={"d": "[0, oo)", "c": "(0, oo)"},
)
