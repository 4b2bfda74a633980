"""Certificates over whole numbers: finitely many evaluated, beyond them the range over the reals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.certificate import Bounds, range_certificate
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.outcome import composite
from gateproof.theory.formula.nodes import And, App, Expr, Or, Rel, Stmt, Var, Where, num
from gateproof.theory.formula.printer import to_text

#: Whole numbers evaluated before a range over the reals begins, and precisions in turn.
EDGES = (8, 32, 128, 1024, 4096)
_BITS = (106, 320, 1280)
_ZERO = Fraction(0)
_BELOW, _ABOVE = Bounds(upper=_ZERO, upper_strict=True), Bounds(lower=_ZERO, lower_strict=True)
Point = Mapping[str, int]
Ends = tuple[int | None, int | None]


def others_below(
    gap: Expr, ranges: Mapping[str, Ends], points: Sequence[Point], *, ties: bool = False
) -> Mapping[str, Any] | None:
    """An accepted certificate that gap < 0 (``ties``: <= 0) at all whole points but those; or None."""
    bounds = Bounds(upper=_ZERO) if ties else _BELOW
    return _everywhere(_but(points, num(0) if ties else num(-1), gap), gap, ranges, points, (bounds,))


def never_zero_but(
    body: Expr, ranges: Mapping[str, Ends], points: Sequence[Point]
) -> Mapping[str, Any] | None:
    """An accepted certificate that the body is 0 at none of the other whole points; or None."""
    return _everywhere(_but(points, num(1), App("abs", (body,))), body, ranges, points, (_ABOVE, _BELOW))


def _but(points: Sequence[Point], value: Expr, body: Expr) -> Expr:
    """The body, with a harmless value at the points."""
    at: list[Stmt] = []
    for point in points:
        here = tuple(Rel(("==",), (Var(name), num(k))) for name, k in point.items())
        at.append(here[0] if len(here) == 1 else And(here))
    if not at:
        return body
    return Where(at[0] if len(at) == 1 else Or(tuple(at)), value, body)


def _everywhere(
    core: Expr, beyond: Expr, ranges: Mapping[str, Ends], points: Sequence[Point], tails: tuple[Bounds, ...]
) -> Mapping[str, Any] | None:
    """The finite part, and for an infinite end the expression ``beyond`` under one of the bounds of tails."""
    finite: dict[str, tuple[int, int]] = {}
    parts: list[dict[str, Any]] = []
    for name, (first, last) in ranges.items():
        lo, hi = first, last
        known = [abs(point[name]) for point in points]
        for side, end in ((-1, first), (1, last)):
            if end is not None:
                continue
            if len(ranges) > 1:
                return None
            start = max([0, *known, *(abs(e) for e in (first, last) if e is not None)])
            found = _tail(beyond, name, side, start, tails)
            if found is None:
                return None
            edge, document = found
            parts.append(document)
            lo, hi = (lo, edge) if side > 0 else (-edge, hi)
        if lo is None or hi is None or hi < lo:
            return None
        finite[name] = lo, hi
    whole = _finite(core, finite, tails[0])
    return None if whole is None else composite([whole, *parts])


def _tail(
    body: Expr, name: str, side: int, start: int, bounds: tuple[Bounds, ...]
) -> tuple[int, dict[str, Any]] | None:
    """A number beyond the start from which one of the bounds holds over the reals, with its certificate."""
    for edge in (e for e in EDGES if e > start):
        box = {name: (Fraction(edge), None) if side > 0 else (None, Fraction(-edge))}
        for b in bounds:
            found = prove_bounds(
                body, box, lower=b.lower, upper=b.upper, lower_strict=b.lower_strict,
                upper_strict=b.upper_strict, budget=Budget(1_000, 256), text=to_text(body),
            )  # fmt: skip
            if found.certificate is not None and accept(found.certificate) is None:
                return edge, found.certificate
    return None


def _finite(core: Expr, ranges: Mapping[str, tuple[int, int]], bounds: Bounds) -> dict[str, Any] | None:
    box = {name: (Fraction(lo), Fraction(hi)) for name, (lo, hi) in ranges.items()}
    for bits in _BITS:
        made = range_certificate(core, box, bounds, [], bits=bits, text=to_text(core))
        document = {k: v for k, v in made.items() if k not in ("tails", "tree", "witnesses")}
        document["kind"] = "finite"
        if accept(document) is None:
            return document
    return None
