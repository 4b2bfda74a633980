"""Whether a statement holds all over a box, by what bounds say of its sides.

For ``abs(fl(e) - F) <= c*ulp(F)``, F the exact value of e, a relative error of at most c 2^-p suffices, as
2^-p abs(F) < ulp(F). Else the difference is bounded as a polynomial in the errors, each of them at most half
the unit of the value that is rounded.
"""

from __future__ import annotations

from gmpy2 import mpq

from gateproof.proofs_check.engine.space import infinite_sign
from gateproof.proofs_check.floating.numbers import two
from gateproof.proofs_check.floating.polynomial import (
    Poly,
    UnknownError,
    key,
    plus,
    product,
    replaced,
    scaled,
    symbol,
    times,
)
from gateproof.proofs_check.floating.values import Values
from gateproof.theory.formula.nodes import And, App, Expr, Fl, Implies, In, Node, Not, Or, Rel, Stmt, rebuild

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Box(Values):
    """The statements on one box."""

    def holds(self, stmt: Stmt, *, wanted: bool = True) -> bool:
        """Whether the statement is seen to be true (or false) at every point of the box.

        UnknownError where a part that counts may have no value.
        """
        if isinstance(stmt, Rel):
            links = list(zip(stmt.ops, stmt.terms, stmt.terms[1:], strict=False))
            for term in stmt.terms:
                if not infinite_sign(term):
                    self.exact(term)
            found = [self.link(op if wanted else _NEGATED[op], a, b) for op, a, b in links]
            return (False not in found) if wanted else (True in found)
        if isinstance(stmt, And | Or):
            found = [self.holds(part, wanted=wanted) for part in stmt.parts]
            return (False not in found) if isinstance(stmt, And) == wanted else (True in found)
        if isinstance(stmt, Not):
            return self.holds(stmt.part, wanted=not wanted)
        if isinstance(stmt, Implies):
            return self._implied(stmt, wanted=wanted)
        if isinstance(stmt, In):
            self.exact(stmt.item)
        return False

    def _implied(self, stmt: Implies, *, wanted: bool) -> bool:
        if not wanted:
            return self.holds(stmt.left) and self.holds(stmt.right, wanted=False)
        if self.holds(stmt.left, wanted=False):
            return True
        return self.holds(stmt.right)

    def truth_of(self, condition: Stmt, *, computed: bool) -> bool | None:
        """The truth all over the box of a condition in ``where``; None if it is not seen."""
        stmt = _computed_sides(condition) if computed else condition
        assert isinstance(stmt, Stmt)
        if self.holds(stmt):
            return True
        return False if self.holds(stmt, wanted=False) else None

    # --- relations ------------------------------------------------------------

    def link(self, op: str, a: Expr, b: Expr) -> bool:
        """Whether ``a op b`` is seen to hold all over the box."""
        if infinite_sign(a) or infinite_sign(b):
            above = infinite_sign(a) - infinite_sign(b)
            return (op in ("<", "<=", "!=")) if above < 0 else (op in (">", ">=", "!="))
        if op == "==":
            return self._equal(a, b)
        if op == "!=":
            return self.at_most(a, b, strict=True) or self.at_most(b, a, strict=True)
        small, large = (a, b) if op in ("<", "<=") else (b, a)
        return self.at_most(small, large, strict=op in ("<", ">"))

    def _equal(self, a: Expr, b: Expr) -> bool:
        (p, lo, hi), (q, low, high) = self.exact(a), self.exact(b)
        if lo == hi == low == high:
            return True
        gap = self.rounding.reduced(plus(p, q, -1))
        return not gap or self.symbols.range(gap) == (0, 0)

    def at_most(self, a: Expr, b: Expr, *, strict: bool) -> bool:
        """Whether a <= b, or a < b, is seen to hold."""
        if isinstance(a, App) and a.head == "abs":
            (inner,) = a.args
            if self._by_relative_error(inner, b, strict=strict):
                return True
            turned = App("neg", (inner,))
            return self.at_most(inner, b, strict=strict) and self.at_most(turned, b, strict=strict)
        if isinstance(a, App) and a.head in ("max", "min"):
            found = [self.at_most(part, b, strict=strict) for part in a.args]
            if (False not in found) if a.head == "max" else (True in found):
                return True
        if isinstance(b, App) and b.head in ("max", "min"):
            found = [self.at_most(a, part, strict=strict) for part in b.args]
            if (False not in found) if b.head == "min" else (True in found):
                return True
        (p, _, hi), (q, low, _) = self.exact(a), self.exact(b)
        if hi < low or (hi == low and not strict):
            return True
        gap = self.rounding.reduced(plus(p, q, -1))
        return self._nonpositive(gap, strict=strict) or self._nonpositive_by_units(gap, strict=strict)

    def _nonpositive(self, gap: Poly, *, strict: bool) -> bool:
        """Whether a polynomial is at most 0, or below it."""
        hi = self.symbols.range(gap)[1]
        return bool(hi < 0 or (hi == 0 and not strict))

    def _nonpositive_by_units(self, gap: Poly, *, strict: bool) -> bool:
        """The same, each error as a part of the unit of its own exact value where the gap holds that unit."""
        units = {}
        for k, poly in self.rounding.exact.items():
            unit = self.symbols.known.get(("ulp", key(poly)))
            if unit is not None:
                units[k] = unit
        used = {k for monomial in gap for k, _ in monomial}
        for k in used & set(units):
            part = symbol(self.symbols.new(mpq(-1, 2), mpq(1, 2), error=True))
            try:
                gap = replaced(gap, k, times(symbol(units[k]), part))
            except UnknownError:
                return False
        for unit in {units[k] for k in used & set(units)}:
            inside, outside = _factored(gap, unit)
            lo, hi = self.symbols.range(inside)
            ends = product((lo, hi), self.symbols.ranges[unit])
            top = ends[1] + self.symbols.range(outside)[1]
            if top < 0 or (top == 0 and not strict):
                return True
        return False

    def _by_relative_error(self, inner: Expr, bound: Expr, *, strict: bool) -> bool:
        """abs(fl(e) - F) <= bound, F the exact value of e, by the relative error of e."""
        match inner:
            case App(head="add", args=(first, App(head="neg", args=(second,)))):
                if isinstance(first, Fl) == isinstance(second, Fl):
                    return False
            case _:
                return False
        fl, exact = (first, second) if isinstance(first, Fl) else (second, first)
        assert isinstance(fl, Fl)
        done, (poly, lo, hi) = self.computed(fl.body), self.exact(exact)
        known = done.relative is not None or done.error is not None
        if not known or key(self.rounding.reduced(done.real)) != key(poly):
            return False
        limit, _, _ = self.exact(bound)
        if done.error is not None:
            least = self.symbols.range(plus(limit, done.error, -1))[0]
            if least > 0 or (least == 0 and not strict):
                return True
        if done.relative is None:
            return False
        unit = self.symbols.known.get(("ulp", key(poly)))
        factor = limit.get(((unit, 1),)) if unit is not None and len(limit) == 1 else None
        if factor is not None and not done.small:
            # 2^-p abs(F) < ulp(F)
            return bool(done.relative <= factor * two(-self.format.bits) and (factor > 0 or not strict))
        sizes = poly if lo >= 0 else scaled(poly, -1) if hi <= 0 else None
        if sizes is None:
            named = self.symbols.known.get(("abs", key(poly)))
            sizes = symbol(named) if named is not None else None
        if sizes is None:
            return False
        left = plus(limit, sizes, -done.relative)
        least = self.symbols.range(left)[0] - done.small
        return bool(least > 0 or (least == 0 and not strict))


def _factored(a: Poly, k: int) -> tuple[Poly, Poly]:
    """b and c with a = k b + c, c without the symbol k."""
    inside: Poly = {}
    outside: Poly = {}
    for monomial, value in a.items():
        powers = dict(monomial)
        if powers.get(k) == 1:
            del powers[k]
            inside[tuple(sorted(powers.items()))] = value
        else:
            outside[monomial] = value
    return inside, outside


def _computed_sides(node: Node) -> Node:
    if isinstance(node, Rel):
        return Rel(node.ops, tuple(Fl(t) for t in node.terms))
    done: Node = rebuild(node, _computed_sides)
    return done
