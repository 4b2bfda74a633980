"""The zoo: one file an activation, each a formula with its parameters and source.

A new activation is a new file here with an ``ACTIVATION``; the parser, every backend
and the tests find it by themselves.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from gateproof.theory.activations.activation import Activation

__all__ = ["Activation", "zoo"]


@cache
def zoo() -> dict[str, Activation]:
    """All activations by name."""
    found: dict[str, Activation] = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name == "activation":
            continue
        item = importlib.import_module(f"{__name__}.{module.name}").ACTIVATION
        assert isinstance(item, Activation)
        found[item.name] = item
    return found
