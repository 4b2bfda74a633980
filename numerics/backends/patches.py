"""Taylor polynomials where a formula has a hole that can be filled, or loses its leading digits.

``sin(x)/x`` has no value at 0 as it stands, and ``x - tanh(x)`` loses all digits near 0. Near such points
the smallest part that is at fault is replaced by its Taylor polynomial, whose coefficients are computed in
balls. Nothing is done where there is no such polynomial: ``abs(x)/x`` stays without a value at 0.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from gateproof.numerics.backends.algebra import ONE, as_product, as_sum, exponent_of
from gateproof.numerics.backends.branches import outside
from gateproof.numerics.backends.nodes import Patch, polynomial, unpatched
from gateproof.numerics.backends.partial import has_kinks
from gateproof.numerics.ball import names_in
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import exact_arb, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.numerics.series import taylor
from gateproof.numerics.special import special_points
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Rel, Var, Where, num, rebuild

BITS = 640
TERMS = 72
#: Largest degree, and how small the last terms are against the largest at the radius.
DEGREE = 60
_SMALL = Fraction(1, 2**60)
_RADII = tuple(Fraction(n, 64) for n in (96, 64, 48, 32, 24, 16, 8, 4, 1))
_MAX_NODES = 400

#: (lowest power, coefficients from it on)
Laurent = tuple[int, list[arb]]


def patched(expr: Expr) -> Expr:
    """The expression with its parts patched at 0, 1, -1 and where linear arguments vanish."""
    names = names_in(expr)
    if expr.size > _MAX_NODES or not names:
        return expr
    if len(names) > 1:
        return _several(expr)
    (var,) = names
    if has_kinks(expr):
        branches = outside(_spelled(expr), var)
        found = _all(branches, var) if branches.size <= _MAX_NODES else branches
        return found if found != branches else expr
    return _all(expr, var)


def _several(expr: Expr) -> Expr:
    """The parts of one name patched, in a formula of several."""
    if not isinstance(expr, App) or expr.head not in ("add", "mul"):
        found = rebuild(expr, lambda c: patched(c) if isinstance(c, Expr) else c)
        assert isinstance(found, Expr)
        return found
    groups: dict[frozenset[str], list[Expr]] = {}
    for arg in expr.args:
        names = names_in(arg)
        groups.setdefault(names if len(names) == 1 else frozenset({"", *names}), []).append(arg)
    args: list[Expr] = []
    for names, group in groups.items():
        if "" in names or len(group) == 1:
            args.extend(patched(a) for a in group)
        else:
            args.append(patched(App(expr.head, tuple(group))))
    return App(expr.head, tuple(args))


def _spelled(expr: Expr) -> Expr:
    """Absolute values and the like as conditions."""
    done = rebuild(expr, lambda c: _spelled(c) if isinstance(c, Expr) else c)
    assert isinstance(done, Expr)
    if not isinstance(done, App) or done.head not in ("abs", "sign", "max", "min"):
        return done
    u, zero = done.args[0], num(0)
    if done.head == "abs":
        return Where(Rel((">=",), (u, zero)), u, App("neg", (u,)))
    if done.head == "sign":
        return Where(Rel((">",), (u, zero)), num(1), Where(Rel(("<",), (u, zero)), num(-1), zero))
    found = u
    for other in done.args[1:]:
        found = Where(Rel((">=" if done.head == "max" else "<=",), (found, other)), found, other)
    return found


def _all(expr: Expr, var: str) -> Expr:
    """The expression patched at each of its points."""
    points = {Fraction(0), Fraction(1), Fraction(-1), *special_points(expr, var)}
    for point in sorted(points):
        expr = _at(expr, var, point)
    return expr


def _at(expr: Expr, var: str, point: Fraction) -> Expr:
    def visit(node: Node) -> Node:
        if not isinstance(node, Expr) or isinstance(node, Patch) or var not in names_in(node):
            return node
        if _at_fault(node, var, point):
            found = _patch(node, var, point)
            if found is not None:
                return found
        found_node = rebuild(node, visit)
        assert isinstance(found_node, Node)
        return found_node

    result = visit(expr)
    assert isinstance(result, Expr)
    return result


def _at_fault(node: Expr, var: str, point: Fraction) -> bool:
    """Whether the node, but none of its parts alone, is at fault at the point."""
    if not isinstance(node, App):
        return False
    if node.head == "mul":
        # A pole of one factor that the others cancel.
        return any(_order(a, var, point) is None or _pole(a, var, point) for a in node.args) and _regular(
            node, var, point
        )
    if node.head == "add":
        return _cancels(node, var, point)
    if node.head == "log":
        u = node.args[0]
        return as_sum(u).get(ONE) != 1 and _vanishes(node, var, point) and u != Var(var)
    return False


def _pole(node: Expr, var: str, point: Fraction) -> bool:
    found = laurent(node, var, point, 4)
    return found is not None and found[0] < 0


def _regular(node: Expr, var: str, point: Fraction) -> bool:
    found = laurent(node, var, point, TERMS)
    return found is not None and found[0] >= 0


def _vanishes(node: Expr, var: str, point: Fraction) -> bool:
    found = laurent(node, var, point, TERMS)
    return found is not None and found[0] > 0


def _order(node: Expr, var: str, point: Fraction) -> int | None:
    found = laurent(node, var, point, 12)
    return None if found is None else found[0]


def _cancels(node: App, var: str, point: Fraction) -> bool:
    """Whether leading terms cancel: the sum is of higher order than its terms."""
    terms = as_sum(node)
    if len(terms) == 2 and ONE in terms:
        # expm1 has no such loss, and a polynomial's zero is no cancellation of functions.
        other = next(m for m in terms if m != ONE)
        if exponent_of(other) is not None and terms[other] == -terms[ONE]:
            return False
    if _is_polynomial(node):
        return False
    orders = [_order(a, var, point) for a in node.args]
    known = [o for o in orders if o is not None]
    if len(known) != len(orders):
        return False
    whole = _order(node, var, point)
    return whole is not None and whole > min(known) and whole >= 0


def _is_polynomial(node: Expr) -> bool:
    """Whether each term is a number times whole powers of names."""
    return all(
        isinstance(base, Var) and power.denominator == 1 and power >= 0
        for term in as_sum(node)
        for base, power in as_product(term)[1].items()
    )


def _patch(node: Expr, var: str, point: Fraction) -> Patch | None:
    found = laurent(node, var, point, TERMS)
    if found is None or found[0] < 0:
        return None
    lowest, coefficients = found
    exact = [Fraction(0)] * lowest + [_middle(c) for c in coefficients]
    radius = next((r for r in _RADII if _converges(exact, r)), None)
    if radius is None:
        return None
    kept = exact[: DEGREE + 1]
    while len(kept) > 1 and abs(kept[-1]) * radius ** (len(kept) - 1) < _largest(exact, radius) * _SMALL / 4:
        kept.pop()
    shift: Expr = Var(var) if point == 0 else App("add", (Var(var), Num(-point)))
    near = Rel(("<",), (App("abs", (shift,)), Num(radius)))
    body = polynomial(shift, kept)
    if all(c == 0 for c in kept[1::2]) and len(kept) > 2:
        body = polynomial(App("pow", (shift, num(2))), kept[::2])
    if all(c == 0 for c in kept[::2]) and len(kept) > 3:
        return Patch(near, App("mul", (shift, polynomial(App("pow", (shift, num(2))), kept[1::2]))), node)
    return Patch(near, body, node)


def _largest(exact: list[Fraction], radius: Fraction) -> Fraction:
    first = next((k for k, c in enumerate(exact) if c), 0)
    return abs(exact[first]) * radius**first


def _converges(exact: list[Fraction], radius: Fraction) -> bool:
    """Whether all terms past DEGREE are small at the radius, against the first term."""
    first = _largest(exact, radius)
    return first > 0 and all(abs(c) * radius**k < first * _SMALL for k, c in enumerate(exact) if k > DEGREE)


def _middle(c: arb) -> Fraction:
    lo, hi = rational_bounds(c)
    middle = (lo + hi) / 2
    if lo <= 0 <= hi:
        return Fraction(0)
    scale = Fraction(2) ** (128 - middle.numerator.bit_length() + middle.denominator.bit_length())
    return Fraction(round(middle * scale)) / scale


# --- Laurent series in balls -------------------------------------------------


def laurent(node: Expr, var: str, point: Fraction, terms: int) -> Laurent | None:
    """The series about the point with ``terms`` coefficients, or None where none is found."""
    with precision(BITS):
        at = exact_arb(point)
        found = _laurent(unpatched(node), var, at, terms + 8)
    return None if found is None else (found[0], found[1][:terms])


def _laurent(node: Expr, var: str, at: arb, n: int) -> Laurent | None:
    try:
        return _trim(0, taylor(node, var, {var: at}, n - 1, BITS))
    except NumericsError:
        pass
    if not isinstance(node, App) or node.head not in ("add", "mul", "pow"):
        return None
    if node.head == "pow":
        power = node.args[1]
        if not isinstance(power, Num) or power.value.denominator != 1 or power.value >= 0:
            return None
        inner = _laurent(node.args[0], var, at, n)
        return None if inner is None else _inverse_power(inner, int(-power.value))
    parts = [_laurent(a, var, at, n) for a in node.args]
    found = parts[0]
    for part in parts[1:]:
        if found is None or part is None:
            return None
        found = _sum(found, part) if node.head == "add" else _product(found, part)
    return found


def _trim(lowest: int, c: list[arb]) -> Laurent | None:
    """Without leading coefficients that are 0 to all digits carried."""
    for k, value in enumerate(c):
        if not value.is_finite():
            return None
        if not value.contains(0):
            return lowest + k, c[k:]
        if abs(value).upper() > arb(2) ** (-BITS // 3):
            return None
    return None


def _sum(a: Laurent, b: Laurent) -> Laurent | None:
    lowest = min(a[0], b[0])
    end = min(a[0] + len(a[1]), b[0] + len(b[1]))
    zero = arb(0)
    columns = [
        (a[1][k - a[0]] if k >= a[0] else zero) + (b[1][k - b[0]] if k >= b[0] else zero)
        for k in range(lowest, end)
    ]
    return _trim(lowest, columns)


def _product(a: Laurent, b: Laurent) -> Laurent | None:
    n = min(len(a[1]), len(b[1]))
    sums = []
    for k in range(n):
        s = arb(0)
        for j in range(k + 1):
            s += a[1][j] * b[1][k - j]
        sums.append(s)
    return _trim(a[0] + b[0], sums)


def _inverse_power(a: Laurent, k: int) -> Laurent | None:
    lead = a[1][0]
    inverse = [1 / lead]
    for j in range(1, len(a[1])):
        s = arb(0)
        for i in range(1, j + 1):
            s += a[1][i] * inverse[j - i]
        inverse.append(-s / lead)
    one: Laurent = (-a[0], inverse)
    found: Laurent | None = one
    for _ in range(k - 1):
        found = None if found is None else _product(found, one)
    return found
