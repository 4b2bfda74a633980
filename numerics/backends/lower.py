"""From the normal form to the operations that backends have.

Beside core heads there are: ``sub div expm1 log1p hypot ncdf expsq poly scale`` and ``product0``, a product
that is 0 where its first factor is 0, since that factor falls faster than the second grows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gateproof.numerics.backends.algebra import (
    ONE,
    as_product,
    as_sum,
    exponent_of,
    is_closed,
    is_total,
    product,
    scaled,
    times,
    total,
)
from gateproof.numerics.backends.growth import UNKNOWN, falls, growth
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import truth_at
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import And, App, Expr, Not, Num, Or, Rel, Stmt, Where, num

#: A number that does not exist.
_NO_VALUE = App("log", (num(-1),))
_SQRT2 = App("sqrt", (num(2),))
#: Integer powers up to this one are products.
_PRODUCTS = 4


@lru_cache(maxsize=8192)
def lowered(node: Expr) -> Expr:
    """The expression in operations of the backends."""
    if is_closed(node):
        return node
    if isinstance(node, Where):
        try:
            known = truth_at(node.cond, {}) if _closed_statement(node.cond) else None
        except NumericsError:
            return _NO_VALUE
        if known is not None:
            return lowered(node.then if known else node.other)
        return _guarded(type(node)(condition(node.cond), lowered(node.then), lowered(node.other)), node.cond)
    if not isinstance(node, App):
        return node
    if node.head == "add":
        return _sum(as_sum(node))
    if node.head in ("mul", "pow"):
        return _product(node)
    if node.head == "poly":
        return App("poly", (lowered(node.args[0]), *node.args[1:]))
    return _function(node)


def _guarded(found: Where, cond: Stmt) -> Expr:
    """Not-a-number where a side of the condition has no value."""
    value: Expr = found
    for part in cond.walk():
        for term in part.terms if isinstance(part, Rel) else ():
            if not is_total(term) and not is_closed(term):
                value = App("not_a_number", (value, lowered(term)))
    return value


def _closed_statement(stmt: Stmt) -> bool:
    return all(is_closed(n) for n in stmt.walk() if isinstance(n, Expr))


def condition(stmt: Stmt) -> Stmt:
    """A condition with its terms lowered."""
    if isinstance(stmt, Rel):
        return _solved(stmt) or Rel(stmt.ops, tuple(lowered(t) for t in stmt.terms))
    if isinstance(stmt, Not):
        return Not(condition(stmt.part))
    if isinstance(stmt, And | Or):
        return type(stmt)(tuple(condition(p) for p in stmt.parts))
    return stmt


_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _solved(stmt: Rel) -> Rel | None:
    """a*m + b < c as m < (c - b)/a: a sum could be rounded to the other side."""
    if len(stmt.terms) != 2:
        return None
    left, right = (as_sum(t) for t in stmt.terms)
    moving = {m: c for m, c in left.items() if not is_closed(m)}
    if (
        len(moving) != 1
        or not all(is_closed(m) for m in right)
        or (len(left) == 1 and set(moving.values()) == {1})
    ):
        return None
    ((term, factor),) = moving.items()
    bound = dict(right)
    for m, c in left.items():
        if m != term:
            bound[m] = bound.get(m, Fraction(0)) - c
    op = stmt.ops[0] if factor > 0 else _TURNED[stmt.ops[0]]
    return Rel((op,), (lowered(term), total({m: c / factor for m, c in bound.items()})))


def _sum(terms: dict[Expr, Fraction]) -> Expr:
    parts: list[Expr] = []
    left = dict(terms)
    for term, a in terms.items():
        _, factors = as_product(term)
        for g, power in factors.items():
            u = exponent_of(g)
            if u is None or power != 1 or is_closed(g) or term not in left:
                continue
            rest = product(Fraction(1), {k: v for k, v in factors.items() if k != g})
            if left.get(rest) == -a:
                del left[term], left[rest]
                parts.append(_times(scaled(rest, a), App("expm1", (lowered(u),))))
    if left:
        size = abs(next(iter(left.values())))
        if len(left) > 1 and size != 1 and all(abs(c) == size for c in left.values()):
            # (x - m)/s with one rounding of s.
            parts.append(_times(Num(size), _plain_sum({m: c / size for m, c in left.items()})))
        else:
            parts.append(_plain_sum(left))
    return parts[0] if len(parts) == 1 else App("add", tuple(parts))


def _times(number: Expr, node: Expr) -> Expr:
    return node if number == ONE else App("mul", (lowered(number), node))


def _plain_sum(terms: dict[Expr, Fraction]) -> Expr:
    """A sum, its positive terms first, closed terms joined to one number."""
    closed = {m: c for m, c in terms.items() if is_closed(m)}
    nodes: list[tuple[bool, Expr]] = []
    for m, c in terms.items():
        if m not in closed:
            nodes.append((c < 0, lowered(scaled(m, abs(c)))))
    nodes.sort(key=lambda n: n[0])
    found = nodes[0][1] if not nodes[0][0] else App("neg", (nodes[0][1],))
    for negative, node in nodes[1:]:
        found = App("sub" if negative else "add", (found, node))
    return App("add", (found, total(closed))) if closed else found


def _product(node: Expr) -> Expr:
    number, factors = as_product(node)
    closed = {b: p for b, p in factors.items() if is_closed(b)}
    constant = product(number, closed)
    above: list[tuple[int, int, Expr]] = []
    below: list[Expr] = []
    for base, power in factors.items():
        if base in closed:
            continue
        if power < 0:
            below.append(_power(base, -power))
        else:
            above.append((falls(base), growth(base), _power(base, power)))
    # The factors that fall fastest decide, if nothing beside them grows as fast.
    depth = max((d for d, _, _ in above), default=0)
    if depth <= max((g for d, g, _ in above if d < depth), default=0):
        depth = UNKNOWN
    deep = [n for d, _, n in above if d == depth]
    others = [n for d, _, n in above if d != depth]
    if not below and len(above) > 1 and _is_small(constant):
        # The product of the others may overflow where the whole does not.
        nodes = deep or others
        nodes[0], constant = _numbered(constant, nodes[0]), ONE
    rest = _chain(others)
    first = _chain(deep)
    if first is not None and rest is not None:
        found: Expr | None = App("product0", (first, rest))
    else:
        found = first if first is not None else rest
    bottom = _chain(below)
    flat = _flat_at_pole({b: p for b, p in factors.items() if b not in closed})
    if bottom is not None and flat is not None:
        top = _chain([_power(b, p) for b, p in factors.items() if b not in closed and p > 0 and b != flat])
        quotient = App("div", (top if top is not None else ONE, bottom))
        found = App("product0", (lowered(flat), quotient))
    elif bottom is not None:
        found = App("div", (found if found is not None else ONE, bottom))
    assert found is not None
    if constant == ONE:
        return found
    if constant == num(-1):
        return App("neg", (found,))
    return App("mul", (constant, found))


def _is_small(constant: Expr) -> bool:
    try:
        return abs(to_float(constant)) < 1
    except FormulaError:
        return False


def _numbered(constant: Expr, node: Expr) -> Expr:
    """A number times a lowered node."""
    if (
        isinstance(node, App)
        and node.head == "mul"
        and isinstance(node.args[0], Num)
        and isinstance(constant, Num)
    ):
        return _times(Num(constant.value * node.args[0].value), node.args[1])
    return App("mul", (constant, node))


def _flat_at_pole(factors: dict[Expr, Fraction]) -> Expr | None:
    """The factor exp(c/b**k + d) where powers of b divide: where it is 0, it falls faster than they grow."""
    if any(p > 0 and growth(b) for b, p in factors.items() if exponent_of(b) is None):
        return None
    for e, power in factors.items():
        w = exponent_of(e)
        if w is None or power != 1:
            continue
        moving = [as_product(m)[1] for m in as_sum(w) if not is_closed(m)]
        moving = [{b: p for b, p in m.items() if not is_closed(b)} for m in moving]
        bases = {b for m in moving for b in m}
        if len(bases) == 1 and all(p < 0 for m in moving for p in m.values()):
            (base,) = bases
            if factors.get(base, Fraction(0)) < 0:
                return e
    return None


def _chain(nodes: list[Expr]) -> Expr | None:
    found: Expr | None = None
    for node in nodes:
        found = node if found is None else App("mul", (found, node))
    return found


def _power(base: Expr, power: Fraction) -> Expr:
    if isinstance(base, App) and base.head == "pow":
        # A power whose exponent is no number.
        body: Expr = App("power", (lowered(base.args[0]), lowered(base.args[1])))
    else:
        body = lowered(base)
    if power == 1:
        return body
    if power == 0:
        # Kept for the sake of where it has no value.
        return App("div", (body, body))
    if power.denominator == 1 and 2 <= power <= _PRODUCTS:
        square = App("mul", (body, body))
        return {2: square, 3: App("mul", (square, body)), 4: App("mul", (square, square))}[int(power)]
    return App("power", (body, Num(power)))


def _function(node: App) -> Expr:
    head, u = node.head, node.args[0]
    if head == "exp":
        if isinstance(u, App) and u.head == "asinh":
            return App("expasinh", (lowered(u.args[0]),))
        return _exp(u)
    if head == "log":
        terms = as_sum(u)
        if terms.get(ONE) == 1 and len(terms) == 2:
            m = next(t for t in terms if t != ONE)
            _, factors = as_product(m)
            if terms[m] == 1 and all(p > 0 and p % 2 == 0 for p in factors.values()):
                return App(
                    "log1psq", (lowered(product(Fraction(1), {b: p / 2 for b, p in factors.items()})),)
                )
        if terms.get(ONE) == 1 and len(terms) > 1:
            return App("log1p", (_sum({m: c for m, c in terms.items() if m != ONE}),))
    if head == "erfc":
        number, factors = as_product(u)
        if factors.get(_SQRT2) == 1:
            inside = product(-2 * number, {b: p for b, p in factors.items() if b != _SQRT2})
            return App("mul", (num(2), App("ncdf", (lowered(inside),))))
    if head == "sqrt":
        terms = as_sum(u)
        if len(terms) == 2 and terms.get(ONE, Fraction(0)) > 0:
            m = next(t for t in terms if t != ONE)
            _, factors = as_product(m)
            if terms[m] > 0 and all(p % 2 == 0 for p in factors.values()):
                root = product(Fraction(1), {b: p / 2 for b, p in factors.items()})
                scale = App("sqrt", (Num(terms[m]),))
                side = root if terms[m] == 1 else times(scale, root)
                return App("hypot", (lowered(side), App("sqrt", (Num(terms[ONE]),))))
    return App(head, tuple(lowered(a) for a in node.args))


def _exp(u: Expr) -> Expr:
    """exp(c*v**2) keeps its digits for large v."""
    number, factors = as_product(u)
    closed = {b: p for b, p in factors.items() if is_closed(b)}
    moving = {b: p for b, p in factors.items() if b not in closed}
    if moving and all(p > 0 and p % 2 == 0 for p in moving.values()):
        root = product(Fraction(1), {b: p / 2 for b, p in moving.items()})
        return App("expsq", (product(number, closed), lowered(root)))
    return App("exp", (lowered(u),))
