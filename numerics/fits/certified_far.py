"""Errors whose tails cancel irrational numbers: x*atan(x) approaches lines with slopes +-pi/2.

Far out the target f is its asymptote l plus a rest that is rewritten by atan(u) = +-pi/2 - atan(1/u), and
divided by an irrational slope, so that l drops out of rest = f - l exactly. As the gates g_k sum to 1, with
L_K the outer line on the right,

    gate - f = sum_(k < K) g_k (L_k - f) + g_K (L_K - l - rest),

where the irrational slopes cancel in L_K - l and g_k decays in all the others. On the left likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.fits.apart import apart, largest, together
from gateproof.numerics.fits.result import Error
from gateproof.numerics.results import Extremum
from gateproof.theory.asymptotes import Asymptote, as_expr, asymptote
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num, Var, num, rebuild
from gateproof.theory.formula.powers import constant_value, linear
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import branch

X = Var("x")
SAID = (
    "the error is the largest of these: right of {0} and left of -{0} the formula is written as its "
    "asymptote and a rest, with atan(u) = pi/2 - atan(1/u) for u > 0 and -pi/2 - atan(1/u) for u < 0"
)


def has_arc(target: Expr) -> bool:
    """Whether the target holds an arc tangent of a line in x."""
    return any(_turn(node) is not None for node in target.walk())


def is_irrational(gate: Gate) -> bool:
    """Whether an outer line has a number that is not rational, as pi/2."""
    return any(constant_value(v[k]) is None for v in (gate.slope, gate.intercept) for k in (0, -1))


def start_of(target: Expr) -> Fraction:
    """From where on the rules hold on both sides."""
    lines = [line for line in map(_turn, target.walk()) if line is not None]
    return max([Fraction(2), *(2 * abs(b / a) for a, b in lines)])


def error_by_sides(gate: Gate, target: Expr, digits: int, budget: Budget | None = None) -> Error | str:
    """The supremum of |gate - target| over R, or why it is not known."""
    start = start_of(target)
    parts: list[Extremum] = []
    try:
        parts.append(largest(apart(gate.expression(), target), -start, start, digits, budget))
        for side, lo, hi in (("+", start, None), ("-", None, -start)):
            bodies = [_whole(gate, target, side, moved) for moved in outer_errors(gate, target, side, start)]
            parts.append(best_of(bodies, lo, hi, digits, budget))
    except (NumericsError, Unsupported) as error:
        return str(error) or type(error).__name__
    if any(p.status == "infinite" for p in parts):
        return Error(Fraction(0), None, "certified", at_infinity=("+",))
    bad = next((p for p in parts if p.status != "ok" or p.value is None), None)
    if bad is not None:
        return bad.reason or bad.status
    return together(parts, SAID.format(start))


def best_of(
    bodies: Sequence[Expr],
    lo: Fraction | None,
    hi: Fraction | None,
    digits: int,
    budget: Budget | None,
    *,
    lo_closed: bool = True,
) -> Extremum:
    """The supremum of the first form whose supremum is found; the last one's outcome where none is."""
    found = Extremum("unknown", None, reason="no form of the error is known")
    for body in bodies:
        found = largest(body, lo, hi, digits, budget, lo_closed=lo_closed)
        if found.status == "infinite" or (found.status == "ok" and found.value is not None):
            break
    return found


def outer_errors(gate: Gate, target: Expr, side: str, start: Fraction) -> list[Expr]:
    """Forms of the outer line - target on one side. Raises Unsupported where there is none."""
    found = asymptote(target, "x", side)
    if not isinstance(found, Asymptote):
        raise Unsupported(f"no asymptote of the function is known at {side}oo")
    slope, intercept = as_expr(found.slope), as_expr(found.intercept)
    outer = gate.branches - 1 if side == "+" else 0
    if gate.slope[outer] != slope and prove_relation(gate.slope[outer], "==", slope, Assumptions()) is None:
        raise Unsupported("the slopes differ, or were not proved to agree")
    domain = Domain(num(start), None) if side == "+" else Domain(None, num(-start))
    shift = App("add", (gate.intercept[outer], App("neg", (intercept,))))
    rests = in_workspace(Assumptions({"x": domain}), lambda work: _rests(target, found, side, work))
    if rests is None:
        raise Unsupported("no form of the rest is known")
    return [App("add", (shift, App("neg", (rest,)))) for rest in rests]


def _whole(gate: Gate, target: Expr, side: str, moved: Expr) -> Expr:
    """Gate - target with the outer line's error in another form."""
    outer = gate.branches - 1 if side == "+" else 0
    terms: list[Expr] = []
    for k, weight in enumerate(gate.gates()):
        line = branch(X, gate.slope[k], gate.intercept[k])
        terms.append(App("mul", (weight, moved if k == outer else apart(line, target))))
    return App("add", tuple(terms)) if len(terms) > 1 else terms[0]


def _rests(target: Expr, line: Asymptote, side: str, work: Workspace) -> list[Expr]:
    """Target - asymptote on one side, without the arc tangents' limits, in several forms."""
    slope, intercept = as_expr(line.slope), as_expr(line.intercept)
    turned = _turned(target, 1 if side == "+" else -1)
    assert isinstance(turned, Expr), "an expression with terms in place of others is one"
    rest = work.sub(work.form(turned), work.form(branch(X, slope, intercept)))
    found = [write(work, rest)]
    if constant_value(slope) is None:
        found.append(App("mul", (slope, write(work, work.div(rest, work.form(slope))))))
    if constant_value(slope) == constant_value(intercept) == 0:
        found.append(turned)
    return found


def _turn(node: Node) -> tuple[Fraction, Fraction] | None:
    """Slope and intercept of the line that a node is the arc tangent of."""
    if not isinstance(node, App) or node.head != "atan":
        return None
    line = linear(node.args[0], "x")
    return line if line is not None and line[0] else None


def _turned(node: Node, side: int) -> Node:
    """With atan(u) = +-pi/2 - atan(1/u) for every line u, which has one sign there."""
    done: Node = rebuild(node, lambda part: _turned(part, side))
    line = _turn(done)
    if line is None or not isinstance(done, App):
        return done
    sign = side if line[0] > 0 else -side
    right = App("mul", (Num(Fraction(sign, 2)), Const("pi")))
    return App("add", (right, App("neg", (App("atan", (App("div", (num(1), done.args[0])),)),))))
