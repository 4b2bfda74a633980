"""The value of an expression with sup, inf, argmax, zeros in it, as `certify` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled, compiled_condition
from gateproof.numerics.bounds import Budget
from gateproof.numerics.certify_integers import integer_extremum, over_integers
from gateproof.numerics.certify_joint import joint_extremum
from gateproof.numerics.certify_nested import nested_enclosure
from gateproof.numerics.decimals import agreed_digits, decimal_enclosure
from gateproof.numerics.errors import MaybeUndefined, NotImplementedOperator, NotReal, Undefined
from gateproof.numerics.extrema import Enclosure, extremum, zeros
from gateproof.numerics.factor_roots import zeros_document
from gateproof.numerics.integral import Value
from gateproof.numerics.interval import Interval
from gateproof.numerics.means import NAMES, enclosed, exact
from gateproof.numerics.precision import precision
from gateproof.numerics.value_certificates import with_certificate
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.means import Mean, holds_mean
from gateproof.theory.formula.expand import expand, expand_node
from gateproof.theory.formula.library import Definition
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Diff,
    Expr,
    Extremum,
    IntervalSet,
    MeanField,
    NamedSet,
    Node,
    Not,
    Or,
    Rel,
    Stmt,
    Var,
    Where,
    rebuild,
)
from gateproof.theory.formula.printer import to_text

_CORE = (
    "Num",
    "Const",
    "Var",
    "App",
    "Where",
    "Extremum",
    "Rel",
    "And",
    "Or",
    "Not",
    "Scope",
    "Bind",
    "NamedSet",
    "IntervalSet",
    "IntRange",
    "SetMinus",
    *NAMES,
)


#: The reason where a value is known, but not which of several places have it.
UNDECIDED = "the values at several places agree to all digits, and were not proved to be equal"
#: Numbers beyond it are not written as decimals.
_LARGEST = arb(2) ** 65_536


@dataclass
class _Inner:
    """What the operators inside an expression came to."""

    values: dict[str, Interval] = field(default_factory=dict)
    domains: list[str] = field(default_factory=list)
    answer: dict[str, Any] | None = None


def certify(
    expr: Expr | Stmt,
    digits: int = 15,
    budget: Budget | None = None,
    extra: Mapping[str, Definition] | None = None,
) -> dict[str, Any]:
    """The contract of ``gateproof certify``: kind, value, points, attained, digits, domain, certificate.

    ``expr`` is parsed and closed (a condition gives kind boolean). ``kind`` is None, with
    a ``reason``, where nothing was decided within the budget. ``digits`` are those
    reached. Raises NotImplementedOperator for operators without numerics.
    """
    budget = budget or Budget()
    node = _plain(expand_node(expr, extra))
    if isinstance(node, Stmt):
        return _boolean(node, budget)
    assert isinstance(node, Expr)
    plain = exact(node)
    if isinstance(plain, Value):
        return _answer("undefined" if plain.status == "undefined" else None, reason=plain.reason)
    given, node = node, plain
    infinite = _infinite(node)
    if infinite is not None:
        return _answer("infinite", value={"lo": infinite, "hi": infinite})
    if isinstance(node, Extremum):
        return _extremum(node, digits, budget)
    if isinstance(node, Mean):
        alone = enclosed(node, digits, budget)
        if alone.status == "infinite":
            end = "oo" if alone.sign > 0 else "-oo"
            return _answer("infinite", value={"lo": end, "hi": end})
    found = _arithmetic(node, digits, budget)
    # Where there is a closed form, the certificate is still of the integral itself.
    return with_certificate(given, found, digits)


def _answer(kind: str | None, **values: Any) -> dict[str, Any]:
    blank = {"kind": kind, "value": None, "points": None, "attained": None, "digits": 0, "domain": None}
    return {**blank, "certificate": None, **values}


def _infinite(node: Expr) -> str | None:
    if node == Const("oo"):
        return "oo"
    return "-oo" if node == App("neg", (Const("oo"),)) else None


def _plain(node: Node) -> Node:
    """Derivatives written out; NotImplementedOperator for whatever has no numerics."""
    done = rebuild(node, _plain)
    assert isinstance(done, Node)
    if isinstance(done, Diff):
        if kinks(done.body, done.var):
            raise NotImplementedOperator("diff of a formula with kinks")
        body: Expr = done.body
        for _ in range(done.order):
            slope = derivative(body, done.var)
            if slope is None:
                raise NotImplementedOperator("diff of this formula")
            body = slope
        return body
    if type(done).__name__ not in _CORE:
        raise NotImplementedOperator(done.op if isinstance(done, MeanField) else type(done).__name__.lower())
    return done


def _boolean(node: Stmt, budget: Budget) -> dict[str, Any]:
    if not isinstance(node, Rel | And | Or | Not) or any(isinstance(n, Extremum) for n in node.walk()):
        raise NotImplementedOperator("statements that are not closed relations")
    bits = 64
    while bits <= budget.cap():
        with precision(bits):
            try:
                truth = compiled_condition(node)({})
            except Undefined as error:
                return _answer("undefined", reason=error.where)
            except MaybeUndefined:
                truth = None
        if truth is not None:
            return _answer("boolean", value=truth)
        bits *= 2
    return _answer(None, reason=f"the two sides agree to {budget.cap()} bits")


def _arithmetic(node: Expr, digits: int, budget: Budget) -> dict[str, Any]:
    """A closed expression, perhaps with extrema inside."""
    work = digits + 5
    bits = int(3.33 * digits) + 32
    reason, best = "bits", None
    while bits <= budget.cap(digits):
        inner = _Inner()
        replaced = _replace(node, work, budget, inner)
        if inner.answer is not None:
            return inner.answer
        try:
            with precision(bits):
                found = compiled(replaced)(inner.values)
        except Undefined as error:
            return _answer("undefined", reason=error.where)
        except NotReal as error:
            return _answer(None, reason=str(error))
        except MaybeUndefined as error:
            reason = f"may be undefined: {error.where}"
        else:
            if found[0].is_finite() and found[1].is_finite():
                if not all(iv.moderate(end, _LARGEST) for end in found):
                    reason = "a number too large or too small to be written down"
                    break
                value = iv.to_fraction(found[0]), iv.to_fraction(found[1])
                reached = agreed_digits(*value)
                best = value, min(reached, digits), inner.domains
                if reached >= digits:
                    break
        work, bits = 2 * work, 2 * bits
    if best is None:
        return _answer(None, reason=reason)
    value, reached, domains = best
    short = {} if reached >= digits else {"reason": f"{reached} digits within the budget"}
    return _answer(
        "value",
        value=decimal_enclosure(*value, digits),
        digits=reached,
        domain="; ".join(domains) or None,
        **short,
    )


def _replace(node: Expr, digits: int, budget: Budget, inner: _Inner) -> Expr:
    """The expression with every extremum replaced by a name, whose value is kept in ``inner``."""

    def visit(part: Node) -> Node:
        if inner.answer is not None:
            return part
        if isinstance(part, Extremum):
            name = f"extremum {len(inner.values)}"
            found = _extremum(part, digits, budget)
            if found["kind"] == "set" and found["points"] is not None and len(found["points"]) == 1:
                only = found["points"][0]
                found = {**found, "kind": "value", "value": only}
            if found["kind"] == "set" or found["kind"] == "empty":
                found = _answer("undefined", reason=f"{part.op} is a set, not one number")
            if found["kind"] != "value":
                inner.answer = (
                    found
                    if found["kind"] != "infinite"
                    else _answer(None, reason=f"{part.op} is infinite inside of an expression")
                )
                return part
            with precision(int(digits * 3.33) + 64):
                lo, hi = (iv.rational(Fraction(found["value"][k])) for k in ("lo", "hi"))
                inner.values[name] = iv.down(lo), iv.up(hi)
            inner.domains.append(found["domain"])
            return Var(name)
        if isinstance(part, Mean):
            return _mean(part, digits, budget, inner)
        result = rebuild(part, visit)
        assert isinstance(result, Node)
        return result

    done = visit(node)
    assert isinstance(done, Expr)
    return done


def _mean(node: Mean, digits: int, budget: Budget, inner: _Inner) -> Expr:
    """A name for the enclosure of an integral, or the node where it has no finite one."""
    found = enclosed(node, digits, budget)
    if found.enclosure is None:
        kind = "undefined" if found.status == "undefined" else None
        inner.answer = _answer(kind, reason=found.reason or "an integral is infinite inside of an expression")
        return node
    name = f"mean {len(inner.values)}"
    with precision(int(digits * 3.33) + 64):
        lo, hi = (iv.rational(e) for e in found.enclosure)
        inner.values[name] = iv.down(lo), iv.up(hi)
    return Var(name)


def _extremum(node: Extremum, digits: int, budget: Budget) -> dict[str, Any]:
    joint = joint_extremum(node, digits, budget) if len(node.scope.binds) > 1 else None
    if joint is not None:
        return _answer(**joint)
    if isinstance(node.body, Extremum) or len(node.scope.binds) > 1:
        return _nested(node, digits, budget)
    if over_integers(node):
        return _of_integers(node, digits)
    var, lo, hi, closed = _scope(node)
    domain = "; ".join(f"{b.name} in {to_text(b.within)}" for b in node.scope.binds)
    body = node.body
    if any(isinstance(n, Extremum) for n in body.walk()):
        raise NotImplementedOperator(f"{node.op} of an expression with another supremum inside")
    if holds_mean(body):
        raise NotImplementedOperator(f"{node.op} of an integral without a closed form")
    if node.op == "zeros":
        roots = zeros(body, var, lo, hi, digits, budget, lo_closed=closed[0], hi_closed=closed[1])
        if roots.status != "ok":
            return _answer(
                "undefined" if roots.status == "undefined" else None, reason=roots.reason, domain=domain
            )
        document = zeros_document(body, var, (lo, hi), roots.points, digits)
        if not roots.points:
            return _answer("empty", domain=domain, points=[], certificate=document)
        reached, shown = min(roots.digits, digits), _points(roots.points, digits)
        return _answer("set", points=shown, digits=reached, domain=domain, certificate=document)
    which = "sup" if node.op in ("sup", "max", "argmax") else "inf"
    found = extremum(
        body, var, lo, hi, which, digits, budget,
        text=to_text(body), lo_closed=closed[0], hi_closed=closed[1], apart=True, prove_ends=True,
    )  # fmt: skip
    if found.status == "infinite":
        if node.op in ("argmax", "argmin"):
            return _answer("empty", points=[], attained=False, domain=domain)
        if node.op in ("max", "min"):
            return _answer("undefined", reason="unbounded", attained=False, domain=domain)
        end = "oo" if which == "sup" else "-oo"
        return _answer("infinite", value={"lo": end, "hi": end}, attained=False, domain=domain)
    if found.status != "ok" or found.value is None:
        kind = "undefined" if found.status == "undefined" else None
        return _answer(kind, reason=found.reason, domain=domain)
    return _shape(node.op, found.value, found, digits, domain)


def _of_integers(node: Extremum, digits: int) -> dict[str, Any]:
    """The answer for a set of integers: finitely many looked at, the rest by its tails."""
    domain = "; ".join(f"{b.name} in {to_text(b.within)}" for b in node.scope.binds)
    found = integer_extremum(node, digits)
    if isinstance(found, str):
        return _answer(None, reason=found, domain=domain)
    points = [{"lo": str(n), "hi": str(n)} for n in found.points]
    if node.op in ("argmax", "argmin", "zeros"):
        if not found.points:
            return _answer("empty", points=[], domain=domain)
        return _answer("set", points=points, digits=digits, domain=domain)
    if found.value is None:
        if node.op in ("max", "min"):
            return _answer("undefined", reason="unbounded", attained=False, domain=domain)
        end = "oo" if node.op == "sup" else "-oo"
        return _answer("infinite", value={"lo": end, "hi": end}, attained=False, domain=domain)
    if node.op in ("max", "min") and not found.points:
        return _answer("undefined", reason="not attained", attained=False, domain=domain)
    value, reached = decimal_enclosure(*found.value, digits), min(agreed_digits(*found.value), digits)
    attained = bool(found.points)
    return _answer("value", value=value, points=points, attained=attained, digits=reached, domain=domain)


def _nested(node: Extremum, digits: int, budget: Budget) -> dict[str, Any]:
    ends = nested_enclosure(node, digits, budget)
    domain = "; ".join(f"{b.name} in {to_text(b.within)}" for b in node.scope.binds)
    if isinstance(ends, str):
        return _answer(None, reason=ends, domain=domain)
    reached = min(agreed_digits(*ends), digits)
    short = {} if reached >= digits else {"reason": f"{reached} digits within the budget"}
    return _answer("value", value=decimal_enclosure(*ends, digits), digits=reached, domain=domain, **short)


def _shape(op: str, value: Enclosure, found: Any, digits: int, domain: str) -> dict[str, Any]:
    if found.tied:
        found = replace(found, points=None, reason=found.reason or UNDECIDED)
    points = None if found.points is None else _points(found.points, digits)
    common = {"attained": found.attained, "domain": domain, "certificate": found.certificate}
    if found.reason:
        common["reason"] = found.reason
    if op in ("argmax", "argmin"):
        if found.attained is False:
            return _answer("empty", **{**common, "points": []})
        if points is None or found.attained is None:
            return _answer(None, **{"reason": "the places are not isolated", **common})
        reached = min((agreed_digits(*p) for p in found.points or ()), default=0)
        return _answer("set", **common, points=points, digits=min(reached, digits))
    if op in ("max", "min") and found.attained is not True:
        kind = "undefined" if found.attained is False else None
        return _answer(kind, **{"reason": "not attained", **common})
    reached = min(found.digits, digits)
    return _answer("value", **common, value=decimal_enclosure(*value, digits), points=points, digits=reached)


def _points(points: tuple[Enclosure, ...], digits: int) -> list[dict[str, str]]:
    return [decimal_enclosure(lo, hi, digits) for lo, hi in points]


def _scope(node: Extremum) -> tuple[str, Expr | None, Expr | None, tuple[bool, bool]]:
    if len(node.scope.binds) != 1:
        raise NotImplementedOperator(f"{node.op} over several names")
    if node.scope.conditions:
        raise NotImplementedOperator(f"{node.op} with conditions")
    bind = node.scope.binds[0]
    within = bind.within
    if isinstance(within, NamedSet) and within.name == "R":
        return bind.name, None, None, (False, False)
    if isinstance(within, IntervalSet):
        return bind.name, within.lo, within.hi, (within.lo_closed, within.hi_closed)
    raise NotImplementedOperator(f"{node.op} over {to_text(within)}")


__all__ = ["Where", "certify", "expand"]
