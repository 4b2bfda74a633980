"""Boxes on a line: parts of a piece, halves, and the tree of those with a rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.certificate import Tree, ratio
from gateproof.numerics.cover import split_point
from gateproof.numerics.smooth import Piece

Rule = str | list[str | int]
_PARTS = 4


@dataclass(frozen=True)
class Box:
    """A part of a piece, the splits it comes from, and the rule that proves the bounds on it."""

    piece: Piece
    lo: Fraction
    hi: Fraction
    depth: int = 0
    rule: Rule | None = None


def parts(piece: Piece, lo: Fraction, hi: Fraction) -> list[Box]:
    """The interval in parts of about width 1, cut at short dyadic numbers."""
    if not lo < hi:
        return []
    cuts = [lo]
    n = min(_PARTS, max(1, round(hi - lo)))
    for k in range(1, n):
        at = split_point(lo + (hi - lo) * (k - 1) / n, lo + (hi - lo) * (k + 1) / n)
        if at > cuts[-1]:
            cuts.append(at)
    return [Box(piece, a, b) for a, b in zip(cuts, [*cuts[1:], hi], strict=True)]


def halves(box: Box) -> list[Box]:
    """The box cut at a short dyadic number near its middle."""
    at = split_point(box.lo, box.hi)
    return [Box(box.piece, a, b, box.depth + 1) for a, b in ((box.lo, at), (at, box.hi))]


def tree(var: str, leaves: list[Box]) -> Tree:
    """The leaves, ascending, as a balanced tree."""
    if len(leaves) == 1:
        return ["leaf", leaves[0].rule]
    half = len(leaves) // 2
    return ["split", var, ratio(leaves[half].lo), tree(var, leaves[:half]), tree(var, leaves[half:])]
