"""The function whose derivatives in x and d are the surrogate in x and the debiased one in d."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="two_sided_potential",
    formula="sign(x)*(softplus(c*(abs(x) - d)) - softplus(-c*d))/c",
    doc="The function whose derivatives in x and d are the surrogate in x and the debiased one in d.",
    source="Two-sided gate, formulas 2 and 3, corrected",
    parameters={"d": "1/2", "c": "4"},
    domains={"d": "[0, oo)", "c": "(0, oo)"},
)
