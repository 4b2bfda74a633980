"""Parameters of threshold gates with tolerances, as names of their own.

A component v of tau=, theta=, slope= or intercept= with tolerance p % ranges over
[v - p|v|/100, v + p|v|/100], with an absolute tolerance d over [v - d, v + d]. A rational v becomes a name
with that range; any other v becomes v (1 + r) or v + r with a name r for the deviation. The gate is
written so that enclosures lose little: with nominal lines l_k, S_k = sigmoid(tau_k (x - theta_k)) and
deviations e_k of the lines,

    y = l_1 + sum_k S_k (l_(k+1) - l_k) + sum_k g_k e_k,

whose derivatives by tau_k and theta_k have the jump l_(k+1) - l_k as one factor, and whose deviations far out
are those of the outer branch alone.

A hard gate (tau = oo) of x itself is looked at side by side: S_k = 1 for x > theta_k, which some theta_k in
[a_k, b_k] allows where x > a_k, and S_k = 0 for x <= theta_k, possible where x <= b_k. The thresholds vary
independently, so a choice of sides is taken by exactly the x of the domain with max a_k < x <= min b_k (k to
the right of its threshold on the left, left of it on the right). Where there is such an x, the supremum over
this set is that over its closure, the formula having no jump on it; where there is none, as for a_k at the
upper end of the domain, the choice of sides does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from gateproof.numerics.points import enclosure
from gateproof.theory.exact.derivative import add, mul, neg
from gateproof.theory.formula.expand import expand
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num, Tg, Var, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names
from gateproof.theory.threshold_gate import branch, gate_above, gate_below

KEYS = ("tau", "theta", "slope", "intercept")
#: Each hard threshold has two sides, and all combinations are gone through.
MOST_HARD = 8
NO_GATE = "it is for the parameters of tg(...), and there is none in the formula"


class ToleranceError(ValueError):
    """A tolerance that means nothing for the formula; ``key`` is the parameter it was for, if for one."""

    def __init__(self, message: str, key: str = "") -> None:
        self.key = key
        super().__init__(message)


@dataclass(frozen=True)
class Tolerance:
    """``size`` of the value itself where ``relative`` (5 % is 1/20), else of the parameter's unit."""

    size: Fraction
    relative: bool

    def off(self, value: Fraction) -> Fraction:
        """The greatest deviation from a value."""
        return self.size * abs(value) if self.relative else self.size

    def __str__(self) -> str:
        shown = 100 * self.size if self.relative else self.size
        return f"{decimal(shown)}{'%' if self.relative else ''}"


@dataclass(frozen=True)
class Component:
    """One parameter that varies; gates and places count from 1, ``ends`` is the range of its ``name``.

    ``direct``: the name is the parameter itself, not its deviation.
    """

    gate: int
    key: str
    place: int
    nominal: Expr
    tolerance: Tolerance
    name: str
    ends: tuple[Fraction, Fraction]
    direct: bool

    def expression(self) -> Expr:
        """The parameter in terms of its name."""
        name = Var(self.name)
        if self.direct:
            return name
        return mul(self.nominal, add(num(1), name)) if self.tolerance.relative else add(self.nominal, name)

    def value(self, at: Fraction) -> Expr:
        """The parameter where its name has that value."""
        return substitute(self.expression(), {self.name: Num(at)})


def decimal(value: Fraction) -> str:
    """A terminating decimal where there is one, else p/q."""
    bottom = value.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    if bottom != 1:
        return f"{value.numerator}/{value.denominator}"
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


@dataclass(frozen=True)
class Piece:
    """The formula between jumps: its names' ranges, and what the side of each hard threshold means for it."""

    node: Expr
    ends: tuple[Fraction | None, Fraction | None]
    components: tuple[Component, ...]
    sides: tuple[Side, ...]


@dataclass(frozen=True)
class Side:
    """x lies right of a hard threshold (``right``) or left of it; the threshold's range and nominal value."""

    gate: int
    place: int
    right: bool
    nominal: Fraction
    ends: tuple[Fraction, Fraction]

    def threshold(self, x: Fraction) -> Fraction:
        """A value of the threshold for which x lies on that side, or is the limit of such x."""
        fits = self.nominal < x if self.right else self.nominal >= x
        return self.nominal if fits else self.ends[0 if self.right else 1]


def pieces(
    node: Expr,
    line: str,
    ends: tuple[Fraction | None, Fraction | None],
    tolerances: Mapping[str, Tolerance],
    taken: frozenset[str],
    *,
    closed: tuple[bool, bool] = (True, True),
    sides: bool = True,
) -> tuple[Piece, ...]:
    """The formula with every gate's toleranced parameters as names, one for each side of hard thresholds.

    ``closed``: which ends belong to the domain; ``taken`` are names in use; without ``sides`` hard gates stay
    conditions, in one piece. Raises ToleranceError where no gate has such a parameter, and for a sharpness
    that would reach 0.
    """
    tgs = gates_of(node)
    if not tgs:
        raise ToleranceError(NO_GATE)
    hard = [
        (number, place)
        for number, tg in enumerate(tgs, 1)
        if tg.x == Var(line)
        for place, (tau, theta) in enumerate(zip(spread(tg.tau, tg.theta), tg.theta, strict=True), 1)
        if sides and tau == Const("oo") and constant_value(theta) is not None
    ]
    if len(hard) > MOST_HARD:
        raise ToleranceError(f"more than {MOST_HARD} hard thresholds")
    found: list[Piece] = []
    for pattern in product((False, True), repeat=len(hard)):
        piece = _piece(node, tgs, ends, closed, tolerances, taken, dict(zip(hard, pattern, strict=True)))
        if piece is not None:
            found.append(piece)
    for key in (k for k, size in tolerances.items() if size.size):
        moved = any(c.key == key for p in found for c in p.components)
        if not moved and not (key == "theta" and any(s.ends[0] < s.ends[1] for p in found for s in p.sides)):
            raise ToleranceError(f"nothing varies; {still(key, tgs)}", key)
    return tuple(found)


def gates_of(node: Expr) -> tuple[Tg, ...]:
    """The different gates in the order in which they begin in the text; equal ones are one gate."""
    found: dict[Tg, None] = {}
    stack: list[Node] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, Tg):
            found[part] = None
        stack.extend(reversed(list(part.children())))
    return tuple(found)


def still(key: str, tgs: Iterable[Tg]) -> str:
    """Why no component of a parameter can vary by a size that is not 0."""
    values = [v for tg in tgs for v in getattr(tg, key)]
    if not values:
        return f"no gate has a {key}"
    return "tau=oo has no size" if key == "tau" else "a part in % of 0 is 0 (give an absolute size)"


def _piece(
    node: Expr,
    tgs: tuple[Tg, ...],
    ends: tuple[Fraction | None, Fraction | None],
    closed: tuple[bool, bool],
    tolerances: Mapping[str, Tolerance],
    taken: frozenset[str],
    pattern: Mapping[tuple[int, int], bool],
) -> Piece | None:
    """The formula for one side of each hard threshold; None where no x is on all of them."""
    components: list[Component] = []
    sides: list[Side] = []
    written: dict[Tg, Expr] = {}
    lo, hi = ends
    lo_closed, hi_closed = closed
    for number, tg in enumerate(tgs, 1):
        fixed: dict[int, bool] = {}
        for place, theta in enumerate(tg.theta, 1):
            right = pattern.get((number, place))
            if right is None:
                continue
            nominal = constant_value(theta) or Fraction(0)
            tolerance = tolerances.get("theta", Tolerance(Fraction(0), False))
            off = tolerance.off(nominal)
            side = Side(number, place, right, nominal, (nominal - off, nominal + off))
            sides.append(side)
            fixed[place] = right
            if right and (lo is None or lo <= side.ends[0]):
                lo, lo_closed = side.ends[0], False
            elif not right and (hi is None or hi > side.ends[1]):
                hi, hi_closed = side.ends[1], True
        written[tg] = _gate(tg, number, tolerances, taken, components, fixed)
    if lo is not None and hi is not None and (lo > hi or (lo == hi and not (lo_closed and hi_closed))):
        return None
    # Gates inside of other gates were written out where they stand: the outer ones hold the originals.
    return Piece(_replaced(node, written), (lo, hi), tuple(components), tuple(sides))


def _replaced(node: Expr, written: Mapping[Tg, Expr]) -> Expr:
    def visit(part: Node) -> Node:
        if isinstance(part, Tg):
            part = written[part]
        done = rebuild(part, visit)
        assert isinstance(done, Node)
        return done

    done = visit(node)
    assert isinstance(done, Expr)
    return done


def spread(tau: tuple[Expr, ...], theta: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """One sharpness a threshold."""
    return tau if len(tau) == len(theta) else tau * len(theta)


def _gate(
    tg: Tg,
    number: int,
    tolerances: Mapping[str, Tolerance],
    taken: frozenset[str],
    found: list[Component],
    fixed: Mapping[int, bool],
) -> Expr:
    """The gate with names for what varies; ``fixed`` says on which side of its hard thresholds x is."""
    given: dict[str, tuple[Expr, ...]] = {}
    for key in KEYS:
        values: tuple[Expr, ...] = getattr(tg, key)
        tolerance = tolerances.get(key)
        parts: list[Expr] = []
        for place, value in enumerate(values, 1):
            component = None
            if tolerance is not None and not (key == "theta" and place in fixed):
                shown = place if len(values) > 1 else 0
                component = _component(number, key, shown, value, tolerance, taken)
            if component is None:
                parts.append(value)
                continue
            found.append(component)
            parts.append(component.expression())
        given[key] = tuple(parts)
    return _written(tg, given, fixed)


def _component(
    number: int, key: str, place: int, value: Expr, tolerance: Tolerance, taken: frozenset[str]
) -> Component | None:
    """The parameter as a name; None where it does not vary."""
    known = constant_value(value)
    if value == Const("oo") or tolerance.size == 0 or (known == 0 and tolerance.relative):
        return None
    off = tolerance.size if known is None else tolerance.off(known)
    ends = (-off, off) if known is None else (known - off, known + off)
    if key == "tau" and not _stays_positive(value, known, ends, tolerance):
        percent = not tolerance.relative and 1 <= tolerance.size < 100
        meant = f"; did you mean {tolerance}%?" if percent else ""
        said = f"within {tolerance} of its value it reaches 0; a sharpness stays positive{meant}"
        raise ToleranceError(said, key)
    name = f"{key}{place or ''}" if number == 1 else f"gate{number}_{key}{place or ''}"
    while name in taken:
        name += "_"
    return Component(number, key, place or 1, value, tolerance, name, ends, known is not None)


def _stays_positive(
    value: Expr, known: Fraction | None, ends: tuple[Fraction, Fraction], tolerance: Tolerance
) -> bool:
    if known is not None:
        return ends[0] > 0
    if tolerance.relative:
        return tolerance.size < 1
    return not free_names(value) and enclosure(expand(value))[0] > tolerance.size


def _written(tg: Tg, given: Mapping[str, tuple[Expr, ...]], fixed: Mapping[int, bool]) -> Expr:
    """The gate in the form of the module's text."""
    x, theta = tg.x, given["theta"]
    tau = spread(given["tau"], theta)
    lines = [branch(x, s, c) for s, c in zip(tg.slope, tg.intercept, strict=True)]
    above: list[Expr] = []
    below: list[Expr] = []
    for place, (t, h) in enumerate(zip(tau, theta, strict=True), 1):
        right = fixed.get(place)
        above.append(gate_above(x, t, h) if right is None else num(int(right)))
        below.append(gate_below(x, t, h) if right is None else num(int(not right)))
    terms = [lines[0], *(mul(s, _minus(b, a)) for s, (a, b) in zip(above, pairwise(lines), strict=True))]
    gates = [below[0], *(_minus(a, b) for a, b in pairwise(above)), above[-1]] if above else [num(1)]
    moved = zip(tg.slope, given["slope"], tg.intercept, given["intercept"], strict=True)
    for gate, (s, s2, c, c2) in zip(gates, moved, strict=True):
        terms.append(mul(gate, add(_off(c, c2), mul(_off(s, s2), x))))
    return add(*terms)


def _minus(a: Expr, b: Expr) -> Expr:
    if isinstance(a, Num) and isinstance(b, Num):
        return Num(a.value - b.value)
    return add(a, neg(b))


def _off(nominal: Expr, moved: Expr) -> Expr:
    """moved - nominal, for a parameter as :meth:`Component.expression` writes it."""
    if moved == nominal:
        return num(0)
    if isinstance(moved, Var):
        return _minus(moved, nominal)
    assert isinstance(moved, App)
    if moved.head == "add":
        return moved.args[-1]
    factor = moved.args[-1]
    assert isinstance(factor, App)
    return mul(nominal, factor.args[-1])
