"""The certificates of lower bounds over gates, checked by mpmath without any of the prover's code.

The rows are written out from the gate's definition; the rule on each leaf is the one that the
certificate's description states. mpmath rounds, so a row must exceed its bound by a margin.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp

from gateproof.theory.formula.serial import tree_hash

MARGIN = mp.mpf(10) ** -25


def problems(document, value):
    """What is wrong with a certificate for the function ``value`` (of mpmath numbers); [] if nothing is."""
    if tree_hash(document["core"]) != document["formula_hash"]:
        return ["hash"]
    with mp.workdps(50):
        return [*_tree(document, document["tree"], Fraction(0), None, value)]


def _tree(document, tree, low, high, value):
    if tree[0] == "split":
        at = Fraction(tree[1])
        if not low < at or not (high is None or at < high):
            yield f"cut at {at} outside of its box"
            return
        yield from _tree(document, tree[2], low, at, value)
        yield from _tree(document, tree[3], at, high, value)
        return
    points = [(Fraction(x), Fraction(v)) for x, v in tree[1]]
    family = document["family"]
    if not points:
        yield f"no witnesses on [{low}, {high}]"
    elif family["branches"] == 3 and (sum(v for _, v in points) or sum(v * x for x, v in points)):
        yield f"lines are not annihilated on [{low}, {high}]"
    else:
        for row in _rows(family, points, value, _number(Fraction(document["bound"]))):
            if not _positive(row, low, high):
                yield f"a row on [{low}, {high}]"


def _number(q):
    return mp.mpf(q.numerator) / q.denominator


def _rows(family, points, value, e):
    """Each row as pairs of coefficient and exponent; the gate's denominator is 1 + ..., not centred."""
    order = family["branches"] - 1
    sums = []
    for power, side in ((0, "left"), (order, "right")):
        end = family[side]
        line = [_number(Fraction(end["slope"]) * x + Fraction(end["intercept"])) for x, _ in points]
        sums.append(
            [
                [
                    (_number(v) * (value(_number(x)) - y - s * e) - e * abs(_number(v)), power * x)
                    for (x, v), y in zip(points, line, strict=True)
                ]
                for s in ((-1, 1) if end["free"] else (0,))
            ]
        )
    # The weights of the certificate belong to the denominator divided by exp(order t x / 2).
    middle = Fraction(order, 2)
    if family["theta"] is not None:
        h = Fraction(family["theta"])
        return [
            [(c, y - middle * (x - h)) for (c, y), (x, _) in zip(a, points, strict=True)]
            + [(c, y - h - middle * (x - h)) for (c, y), (x, _) in zip(b, points, strict=True)]
            for a in sums[0]
            for b in sums[1]
        ]
    rows = [[(c, y - middle * x) for (c, y), (x, _) in zip(r, points, strict=True)] for g in sums for r in g]
    if order == 2:
        rows.append([(_number(v) * value(_number(x)) - e * abs(_number(v)), Fraction(0)) for x, v in points])
    return rows


def _positive(row, low, high):
    top = max(y for _, y in row)
    if high is None:
        a = _number(low)
        least = sum(c if y == top else min(c, 0) * mp.exp(-a * _number(top - y)) for c, y in row)
        return least > MARGIN
    a, b = _number(low), _number(high)
    scale = max(mp.exp(t * _number(y)) for t in (a, b) for _, y in row)
    ends = [sum(c * mp.exp(t * _number(y)) for c, y in row) for t in (a, b)]
    bend = sum(c * _number(y) ** 2 * mp.exp((b if (c > 0) == (y > 0) else a) * _number(y)) for c, y in row)
    return min(ends) - (b - a) ** 2 / 8 * max(bend, 0) > MARGIN * scale * mp.mpf(10) ** -10
