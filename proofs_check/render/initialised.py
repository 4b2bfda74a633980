"""What to begin with, for a terminal: a row for each number."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from gateproof.proofs_check import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateproof.numerics.meanfield.initialise_record import Initialisation

#: Digits of floats that are right on every machine.
SURE = 12
STABLE = {True: "yes", False: "no", None: "not told"}


def summary(made: Initialisation, digits: int) -> str:
    """The kind, sigma_w and sigma_b, what they bring, and why these."""
    digits = min(digits, SURE)
    lines = [f"to begin with: {made.activation}: {made.kind}", ""]
    rows = [(name, value) for name, value in _numbers(made) if value is not None]
    lines += [f"  {name:10} {_decimal(value, digits)}" for name, value in rows]
    if made.point is not None and made.kind != "scale-invariant":
        lines.append(f"  {'stable':10} {STABLE[made.point.stable]}")
    if rows:
        lines.append("")
    lines.append(f"  {made.reason}")
    if rows:
        lines.append(f"  {_sure(made)}")
    return clean.lines(lines)


def _numbers(made: Initialisation) -> Iterator[tuple[str, float | None]]:
    if made.sigma_w2 is None:
        return
    yield "sigma_w", made.sigma_w
    yield "sigma_b", made.sigma_b
    yield "sigma_w^2", made.sigma_w2
    yield "sigma_b^2", made.sigma_b2
    yield "q*", made.q_star
    if made.point is not None:
        yield "chi_1", float(made.point.chi_1.mid())
        yield "chi_par", float(made.point.chi_parallel.mid())
    if made.scales is not None:
        yield "xi_q", made.scales.xi_q
        yield "xi_c", made.scales.xi_c
        yield "xi_grad", made.scales.xi_gradient
        yield "beta_q" if made.scales.power == 1 else "limit", made.scales.limit
    if made.depth is not None:
        yield f"1 - c_{made.depth}", made.eps_at_depth


def _sure(made: Initialisation) -> str:
    """What is proved."""
    if not made.certified:
        return "in floats, not certified"
    nearest = made.kind.startswith("nearest")
    return "the fixed point is certified" + ("; that none is nearer is found in floats" if nearest else "")


def _decimal(value: float | None, digits: int) -> str:
    return "oo" if value == inf else f"{value:.{digits}g}"
