"""Names of known activations, for rows: found by values, while what is decided rests on the formula.

Two functions have one name here where they agree to 1e-12 of their size at 145 points of [-9, 9]. GELU and
its approximation by tanh are 4.7e-4 apart, so no name is given for another function of the table.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from gateproof.kernels.convert.nodes import POINTS
from gateproof.numerics.backends.formula import formula

NAMES = (
    "gelu", "gelu_tanh", "quick_gelu", "silu", "mish", "relu", "relu6", "hardsigmoid", "hardswish", "sigmoid",
    "tanh", "softplus", "softsign", "elu", "selu", "leaky_relu", "log_sigmoid", "tanhshrink", "hardtanh",
    "squareplus", "telu", "smish", "memglu", "gaussian",
)  # fmt: skip
#: Without an entry of its own in the zoo.
OTHERS = {"squared relu": "relu(x)**2", "erf": "erf(x)"}


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    known = {**{name: f"{name}(x)" for name in NAMES}, **OTHERS}
    return {name: formula(text).numpy(POINTS) for name, text in known.items()}


def name_of(values: Any) -> str:
    """The activation that has these values, or ''."""
    if not np.isfinite(values).all():
        return ""
    for name, table in _table().items():
        if np.all(np.abs(values - table) <= 1e-12 * (1 + np.abs(table))):
            return name
    return ""
