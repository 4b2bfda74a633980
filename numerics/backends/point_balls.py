"""The value of a formula at one rational point, to as many bits as are asked for, by rigorous balls.

The precision grows until the enclosure is narrow against its own size; two results that agree prove
nothing: ``(1 + 1/x)**x`` is 1 at x = 1e300 for every working precision below 1000 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from flint import arb

from gateproof.numerics.backends.normal import normal, truth
from gateproof.numerics.ball import compare
from gateproof.numerics.errors import MaybeUndefined, NumericsError, Undefined
from gateproof.numerics.points import at_point, exact_arb
from gateproof.numerics.precision import precision
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import substitute, to_text
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Stmt,
    Var,
    Where,
    num,
    rebuild,
)
from gateproof.theory.special import find

_GUARD = 24
#: The largest precision tried, in bits and as a multiple of the bits asked for.
MAX_BITS = 2**16
_TIMES = 8
#: From this precision on an enclosure of 0 is taken to the exact prover.
_PROVE = 1024
_MAX_DIGITS = 20_000
_MAX_POWER = 64
_LARGE = arb(2) ** 30


def value_at(expr: Expr, where: Mapping[str, Fraction], bits: int) -> arb:
    """An enclosure with ``bits`` right bits, or exactly 0.

    Raises Undefined where there is no value; MaybeUndefined where no precision up to the largest tells.
    """
    forms = [folded(substitute(expr, {n: Num(p) for n, p in where.items()}))]
    asked = False
    working = bits + _GUARD
    while working <= max(MAX_BITS, _TIMES * bits):
        for k, form in enumerate(forms):
            value = _enclosed(form, where, working, first=k == 0)
            if value is None:
                continue
            if value.is_zero() or value.rel_accuracy_bits() >= bits + 4:
                return value
            if value.contains(0) and working >= _PROVE and not asked:
                asked = True
                if prove_relation(forms[0], "==", num(0), Assumptions({})) is not None:
                    return arb(0)
        if len(forms) == 1:
            forms.append(normal(expr))
        working *= 2
    text = to_text(expr)
    raise MaybeUndefined(f"no digit of {text if len(text) <= 60 else text[:57] + '...'} was found")


def _enclosed(expr: Expr, where: Mapping[str, Fraction], bits: int, first: bool) -> arb | None:
    """The better of two enclosures. Raises Undefined where the formula itself has no value."""
    found: arb | None = None
    try:
        found = at_point(expr, where, bits)
    except Undefined:
        if first:
            raise
    except NumericsError:
        pass
    if found is not None and (found.is_zero() or found.rel_accuracy_bits() >= bits // 2):
        return found
    with precision(bits):
        plain = _value(expr, {n: exact_arb(p) for n, p in where.items()}, {})
    if plain is None or not plain.is_finite():
        return found if found is not None and found.is_finite() else None
    return plain


# --- exact parts -------------------------------------------------------------


def folded(expr: Expr) -> Expr:
    """The closed expression with its rational parts worked out, and conditions between them decided."""
    found = _fold(expr)
    assert isinstance(found, Expr)
    return found


def _fold(node: Node) -> Node:
    if isinstance(node, Where):
        cond = _fold(node.cond)
        assert isinstance(cond, Stmt)
        known = truth(cond)
        if known is not None:
            return _fold(node.then if known else node.other)
    done = rebuild(node, _fold)
    assert isinstance(done, Node)
    if not isinstance(done, App) or not all(isinstance(a, Num) for a in done.args):
        return done
    values = [a.value for a in done.args if isinstance(a, Num)]
    if any(max(v.numerator.bit_length(), v.denominator.bit_length()) > _MAX_DIGITS for v in values):
        return done
    value = _rational(done.head, values)
    return done if value is None else Num(value)


def _rational(head: str, values: list[Fraction]) -> Fraction | None:
    u = values[0]
    if head == "add":
        return sum(values, Fraction(0))
    if head == "mul":
        product = Fraction(1)
        for v in values:
            product *= v
        return product
    if head == "div":
        return u / values[1] if values[1] else None
    if head == "pow":
        n = values[1]
        small = n.denominator == 1 and abs(n) <= _MAX_POWER and (u != 0 or n > 0)
        return u ** int(n) if small else None
    if head in ("max", "min"):
        return max(values) if head == "max" else min(values)
    if head == "neg":
        return -u
    if head == "abs":
        return abs(u)
    if head == "sign":
        return Fraction((u > 0) - (u < 0))
    return None


# --- balls without bounds on their exponents ---------------------------------


def _value(node: Expr, env: Mapping[str, arb], known: dict[Node, arb | None]) -> arb | None:
    """A finite ball that holds the value, or None. It has no cut for large arguments."""
    if node not in known:
        value = _new(node, env, known)
        known[node] = value if value is not None and value.is_finite() else None
    return known[node]


def _new(node: Expr, env: Mapping[str, arb], known: dict[Node, arb | None]) -> arb | None:
    if isinstance(node, Num):
        return exact_arb(node.value)
    if isinstance(node, Const):
        return {"pi": arb.pi(), "e": arb(1).exp()}.get(node.name)
    if isinstance(node, Var):
        return env[node.name]
    if isinstance(node, Where):
        holds = _truth(node.cond, env, known)
        return None if holds is None else _value(node.then if holds else node.other, env, known)
    assert isinstance(node, App)
    args: list[arb] = []
    for a in node.args:
        value = _value(a, env, known)
        if value is None:
            return None
        args.append(value)
    return _apply(node.head, args)


def _apply(head: str, args: list[arb]) -> arb | None:
    u = args[0]
    if head in ("add", "mul"):
        found = u
        for v in args[1:]:
            found = found + v if head == "add" else found * v
        return found
    if head == "div":
        return u / args[1]
    if head == "pow":
        v = args[1]
        whole = v.unique_fmpz() if v.is_integer() and abs(v) < _LARGE else None
        if whole is not None:
            return _integer_power(u, int(whole))
        return _exp(v * u.log()) if u > 0 else None
    if head in ("max", "min"):
        found = u
        for v in args[1:]:
            found = found.max(v) if head == "max" else found.min(v)
        return found
    if head == "neg":
        return -u
    if head == "abs":
        return abs(u)
    if head == "sign":
        return arb(1) if u > 0 else arb(-1) if u < 0 else arb(0) if u.is_zero() else None
    special = find(head)
    return _FUNCTIONS[head](u) if special is None else special.ball(u)


def _integer_power(u: arb, n: int) -> arb | None:
    if n > 0:
        return _whole_power(u, n)
    return None if u.contains(0) else 1 / _whole_power(u, -n)


def _whole_power(u: arb, n: int) -> arb:
    found = arb(1)
    while n:
        found = found * u if n & 1 else found
        u, n = u * u, n >> 1
    return found


def _exp(u: arb) -> arb:
    """exp(u); for large arguments by way of 2**n, as Arb's own overflows."""
    if abs(u) < _LARGE:
        return u.exp()
    n = (u.mid() / arb.const_log2()).mid().floor().unique_fmpz()
    if n is None:
        return u.exp()
    k = int(n)
    return (u - k * arb.const_log2()).exp() * arb((1, k))


def _sigmoid(u: arb) -> arb:
    if u >= 0:
        return 1 / (1 + _exp(-u))
    e = _exp(u)
    return e / (1 + e)


def _softplus(u: arb) -> arb:
    return u + _exp(-u).log1p() if u > 0 else _exp(u).log1p()


def _half(u: arb, sign: int) -> arb:
    e = _exp(abs(u))
    return (e + sign / e) / 2


_FUNCTIONS: dict[str, Callable[[arb], arb]] = {
    "sqrt": arb.sqrt,
    "log": arb.log,
    "sin": arb.sin,
    "cos": arb.cos,
    "tan": arb.tan,
    "asin": arb.asin,
    "acos": arb.acos,
    "atan": arb.atan,
    "tanh": arb.tanh,
    "acosh": arb.acosh,
    "atanh": arb.atanh,
    "erf": arb.erf,
    "erfc": arb.erfc,
    "exp": _exp,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "cosh": lambda u: u.cosh() if abs(u) < _LARGE else _half(u, 1),
    "sech": lambda u: u.sech() if abs(u) < _LARGE else 1 / _half(u, 1),
    "sinh": lambda u: u.sinh() if abs(u) < _LARGE else _half(u, -1) * (1 if u > 0 else -1),
    "asinh": lambda u: u.asinh() if u >= 0 else -((-u).asinh()),
}


def _truth(node: Node, env: Mapping[str, arb], known: dict[Node, arb | None]) -> bool | None:
    if isinstance(node, Rel):
        ends = [_end(t, env, known) for t in node.terms]
        truths: list[bool | None] = []
        for op, a, b in zip(node.ops, ends, ends[1:], strict=False):
            truths.append(None if a is None or b is None else compare(op, a, b))
        return False if False in truths else None if None in truths else True
    if isinstance(node, And | Or):
        parts = [_truth(p, env, known) for p in node.parts]
        stop = isinstance(node, Or)
        return stop if stop in parts else None if None in parts else not stop
    assert isinstance(node, Not)
    inner = _truth(node.part, env, known)
    return None if inner is None else not inner


def _end(node: Expr, env: Mapping[str, arb], known: dict[Node, arb | None]) -> tuple[arb, arb] | None:
    if node == Const("oo"):
        return arb.pos_inf(), arb.pos_inf()
    if node == App("neg", (Const("oo"),)):
        return arb.neg_inf(), arb.neg_inf()
    value = _value(node, env, known)
    return None if value is None else (value.lower(), value.upper())
