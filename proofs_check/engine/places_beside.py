"""Exact places beside one that a search has found: simple rationals, and critical points name by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from gateproof.proofs_check.engine.reached import lies_in
from gateproof.proofs_check.engine.sample import Point, inside
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.critical import exact_extremum_candidates
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Num

#: Denominators of simple coordinates, and places put together of critical points.
DENOMINATORS = (1, 2, 6, 60)
MAX_PLACES = 64


def simple_beside(space: Space, found: Sequence[Point]) -> Iterator[Point]:
    """The points with each coordinate rounded to a simple rational, where those lie in the space."""
    for point in found:
        for size in DENOMINATORS:
            rounded = {name: value.limit_denominator(size) for name, value in point.items()}
            if inside(space, rounded):
                yield rounded


def exact_beside(space: Space, body: Expr, found: Sequence[Point]) -> Iterator[dict[str, Expr]]:
    """Places of the space put together of critical points of each name, the others as in a point found.

    For products and sums of functions of one name each these are the critical points.
    """
    if space.facts or space.vectors or not 2 <= len(space.domains) <= 3:
        return
    for point in found:
        columns: list[list[Expr]] = []
        for name, domain in space.domains.items():
            others: dict[str, Expr] = {n: Num(Fraction(v)) for n, v in point.items() if n != name}
            alone = substitute(body, others)
            given = Space({name: domain}).assumptions()
            column = [c for c in exact_extremum_candidates(alone, name, given) or () if lies_in(c, domain)]
            columns.append(column)
        for count, values in enumerate(product(*columns)):
            if count >= MAX_PLACES:
                return
            yield dict(zip(space.domains, values, strict=True))
