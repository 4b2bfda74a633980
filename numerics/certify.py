"""The value of an expression with sup, inf, argmax, zeros in it, as `certify` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.theory.formula.library import Definition
from gateproof.theory.formula.nodes import Expr


def certify(
    expr: Expr,
    digits: int = 15,
    budget: Budget | None = None,
    extra: Mapping[str, Definition] | None = None,
) -> dict[str, Any]:
    """The contract of ``gateproof certify``: kind, value, points, attained, digits, domain, certificate.

    ``expr`` is parsed and closed. Adds ``reason`` where kind is undefined or digits fell
    short. Raises NotImplementedOperator for operators without numerics.
    """
    raise NotImplementedError
