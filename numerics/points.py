"""Values at exact points: constants enclosed, compared, truth of statements."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpq

from gateproof.numerics.ball import evaluate
from gateproof.numerics.errors import MaybeUndefined
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import And, Expr, Not, Or, Rel, Stmt, Var

START_BITS = 64
MAX_BITS = 1024
#: exp(10**9) as a fraction would fill the memory.
_LARGE, _SMALL = arb(2) ** 20_000, arb(2) ** -20_000


def exact_arb(value: Fraction) -> arb:
    """The rational as a ball at the current precision (exact where it fits)."""
    return arb(fmpq(value.numerator, value.denominator))


def rational_bounds(ball: arb) -> tuple[Fraction, Fraction]:
    """Rational lower and upper bounds of a finite ball, exact unless extremely small.

    Raises MaybeUndefined for a number too large to be written out.
    """
    if abs(ball) > _LARGE or not ball.is_finite():
        raise MaybeUndefined("a number too large to be written out")
    if abs(ball) < _SMALL:
        tiny = Fraction(1, 2**20_000)
        return Fraction(0) if ball >= 0 else -tiny, Fraction(0) if ball <= 0 else tiny
    (m, e), (rm, re) = ball.mid().man_exp(), ball.rad().man_exp()
    mid = Fraction(int(m)) * Fraction(2) ** int(e)
    rad = Fraction(int(rm)) * Fraction(2) ** int(re)
    return mid - rad, mid + rad


def at_point(expr: Expr, point: Mapping[str, Fraction], bits: int) -> arb:
    """The core expression at a rational point. Raises Undefined or MaybeUndefined."""
    with precision(bits):
        env = {name: exact_arb(value) for name, value in point.items()}
    return evaluate(expr, env, bits)


@lru_cache(maxsize=4096)
def enclosure(expr: Expr, bits: int = 256) -> tuple[Fraction, Fraction]:
    """Rational bounds of a closed core expression."""
    return rational_bounds(at_point(expr, {}, bits))


@lru_cache(maxsize=4096)
def compare(a: Expr, b: Expr) -> int | None:
    """-1, 0 or 1 as a is less, equal or greater; None where balls cannot tell.

    0 is given only where both enclosures are the same single number.
    """
    for bits in (64, 256, 1024):
        (alo, ahi), (blo, bhi) = enclosure(a, bits), enclosure(b, bits)
        if ahi < blo:
            return -1
        if bhi < alo:
            return 1
        if alo == ahi == blo == bhi:
            return 0
    return 0 if a == b else None


def difference_sign(a: Expr, b: Expr, point: Mapping[str, Fraction], max_bits: int = MAX_BITS) -> int | None:
    """Sign of a - b at a rational point, certified; None where no precision up to max_bits tells.

    Raises Undefined where a or b has no value there.
    """
    bits = START_BITS
    while True:
        try:
            left, right = at_point(a, point, bits), at_point(b, point, bits)
            with precision(bits):
                gap = left - right
            if gap > 0:
                return 1
            if gap < 0:
                return -1
            if gap.is_zero():
                return 0
        except MaybeUndefined:
            pass
        bits *= 2
        if bits > max_bits:
            return None


#: Which signs of a - b make ``a op b`` true.
SIGN_TESTS = {
    "==": lambda s: s == 0,
    "!=": lambda s: s != 0,
    "<": lambda s: s < 0,
    "<=": lambda s: s <= 0,
    ">": lambda s: s > 0,
    ">=": lambda s: s >= 0,
}


def truth_at(stmt: Stmt, point: Mapping[str, Fraction], max_bits: int = MAX_BITS) -> bool | None:
    """Truth of a core statement at a rational point, certified.

    None where it cannot be told; Undefined is raised where a part has no value.
    """
    if isinstance(stmt, Rel):
        known = True
        for op, a, b in zip(stmt.ops, stmt.terms, stmt.terms[1:], strict=False):
            if _same(a, b, point):
                sign: int | None = 0
            else:
                sign = difference_sign(a, b, point, max_bits)
            if sign is None:
                known = False
            elif not SIGN_TESTS[op](sign):
                return False
        return True if known else None
    if isinstance(stmt, And | Or):
        found = [truth_at(p, point, max_bits) for p in stmt.parts]
        stop = isinstance(stmt, Or)
        if stop in found:
            return stop
        return None if None in found else not stop
    if isinstance(stmt, Not):
        inner = truth_at(stmt.part, point, max_bits)
        return None if inner is None else not inner
    return None


def _same(a: Expr, b: Expr, point: Mapping[str, Fraction]) -> bool:
    return a == b and isinstance(a, Var) and a.name in point
