"""The MemGLU gate: the branch separation of a memristor at tanh(x), times c0."""

from gateproof.theory.activations.activation import Activation

ACTIVATION = Activation(
    name="memglu",
    formula="c0*tanh(x)*sech(x)",
    doc="The MemGLU gate: the branch separation of a memristor at tanh(x), times c0.",
    source="MemGLU, the gate and its RMS-matched form",
    parameters={"c0": "1"},
    domains={"c0": "(-oo, oo)"},
)
