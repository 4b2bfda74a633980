"""The function whose derivatives off x = 0 are the surrogates in x and d as printed; it jumps at 0."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="two_sided_potential_delta",
    formula="sign(x)*softplus(c*(abs(x) - d))/c",
    doc="The function whose derivatives off x = 0 are the surrogates in x and d as printed; it jumps at 0.",
    source="Two-sided gate, formulas 2 and 3",
    parameters={"d": "1/2", "c": "4"},
    domains={"d": "[0, oo)", "c": "(0, oo)"},
)
