"""Syntax trees to text that reads back to the same tree."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.formula.nodes import (
    And,
    App,
    At,
    Average,
    Claim,
    Const,
    Diff,
    Entry,
    Exists,
    Extremum,
    FiniteSet,
    Fl,
    Gauss,
    Gauss2,
    Implies,
    In,
    Index,
    Integral,
    IntervalSet,
    IntRange,
    Limit,
    Lse,
    Matrix,
    MatrixSet,
    MeanField,
    NamedSet,
    Node,
    Not,
    Num,
    Or,
    PointSet,
    Pred,
    Printed,
    Rel,
    Scope,
    Series,
    SetMinus,
    SetPower,
    Softmax,
    Taylor,
    Tg,
    Ulp,
    Var,
    Where,
)
from gateproof.theory.formula.tokens import MAX_DECIMAL_EXPONENT, MAX_DIGITS

#: Decimal places beyond which an exponent is written, and beyond which no decimal is looked for.
_PLAIN_PLACES, _MOST_PLACES = 40, 2 * MAX_DECIMAL_EXPONENT

_IMPLIES, _OR, _AND, _NOT, _REL, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(10)


def to_text(node: Node) -> str:
    """The text of a node."""
    return _print(node)[0]


def _at_least(node: Node, level: int) -> str:
    text, own = _print(node)
    return text if own >= level else f"({text})"


def decimal_text(value: Fraction) -> str:
    """A decimal that reads back to the number where it has one, else p/q."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0 and twos <= _MOST_PLACES:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0 and fives <= _MOST_PLACES:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > _MOST_PLACES:
        return f"{value.numerator}/{value.denominator}"
    sign = "-" if value < 0 else ""
    digits = str(abs(value.numerator) * 10**places // value.denominator)
    if places <= _PLAIN_PLACES and len(digits) <= MAX_DIGITS - 1:
        return sign + _pointed(digits, places)
    short = digits.rstrip("0")
    exponent = len(digits) - len(short) - places
    # A reader takes exponents up to a limit; what is beyond goes into the mantissa.
    shown = max(-MAX_DECIMAL_EXPONENT, min(exponent, MAX_DECIMAL_EXPONENT))
    mantissa = _pointed(short + "0" * max(exponent - shown, 0), max(shown - exponent, 0))
    if len(mantissa) > MAX_DIGITS:
        mantissa = mantissa.removeprefix("0")
    return f"{sign}{mantissa}e{shown}" if shown else sign + mantissa


def _pointed(digits: str, places: int) -> str:
    """Digits with the point before the last places."""
    digits = digits.rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _print(node: Node) -> tuple[str, int]:
    if isinstance(node, Num):
        text = decimal_text(node.value)
        level = _UNARY if node.value < 0 else _PRODUCT if "/" in text else _ATOM
        return text, level
    if isinstance(node, Printed):
        return f"{node.text}~", _UNARY if node.text.startswith("-") else _ATOM
    if isinstance(node, Const | Var | NamedSet):
        return node.name, _ATOM
    if isinstance(node, App):
        return _app(node)
    if isinstance(node, Rel):
        parts = [_at_least(node.terms[0], _SUM)]
        for op, term in zip(node.ops, node.terms[1:], strict=True):
            parts += [op, _at_least(term, _SUM)]
        return " ".join(parts), _REL
    if isinstance(node, And | Or):
        level, word = (_AND, " and ") if isinstance(node, And) else (_OR, " or ")
        return word.join(_at_least(p, level + 1) for p in node.parts), level
    if isinstance(node, Not):
        return f"not {_at_least(node.part, _NOT)}", _NOT
    if isinstance(node, Implies):
        return f"{_at_least(node.left, _OR)} => {_at_least(node.right, _IMPLIES)}", _IMPLIES
    if isinstance(node, In):
        return f"{_at_least(node.item, _SUM)} in {_set(node.within)}", _REL
    return _other(node), _ATOM


def _app(node: App) -> tuple[str, int]:
    head, args = node.head, node.args
    if head == "add":
        text = _at_least(args[0], _PRODUCT)
        for arg in args[1:]:
            if isinstance(arg, App) and arg.head == "neg":
                text += f" - {_at_least(arg.args[0], _PRODUCT)}"
            else:
                text += f" + {_at_least(arg, _PRODUCT)}"
        return text, _SUM
    if head == "neg":
        return f"-{_at_least(args[0], _POWER)}", _UNARY
    if head == "mul":
        # A quotient may stand first without parentheses; anything else would regroup.
        first = _print(args[0])
        keep = first[1] >= _UNARY or (isinstance(args[0], App) and args[0].head == "div")
        return "*".join(
            [first[0] if keep else f"({first[0]})", *(_at_least(a, _UNARY) for a in args[1:])]
        ), _PRODUCT
    if head == "div":
        return f"{_at_least(args[0], _PRODUCT)}/{_at_least(args[1], _UNARY)}", _PRODUCT
    if head == "pow":
        return f"{_at_least(args[0], _ATOM)}**{_at_least(args[1], _UNARY)}", _POWER
    name, _, rest = head.partition("[")
    params = [p.strip() for p in rest[:-1].split(",")] if rest else []
    return f"{name}({', '.join([*params, *(to_text(a) for a in args)])})", _ATOM


def _set(node: Node) -> str:
    if isinstance(node, IntervalSet):
        left, right = "[" if node.lo_closed else "(", "]" if node.hi_closed else ")"
        return f"{left}{to_text(node.lo)}, {to_text(node.hi)}{right}"
    if isinstance(node, PointSet):
        return to_text(node.points)
    if isinstance(node, IntRange):
        return f"{to_text(node.lo)}..{to_text(node.hi)}"
    if isinstance(node, SetMinus):
        return f"{_set(node.base)} \\ {{{', '.join(map(to_text, node.points))}}}"
    if isinstance(node, MatrixSet):
        return f"{_set(node.base)}**({node.rows}, {node.columns})"
    if isinstance(node, SetPower):
        return f"{_set(node.base)}**{_at_least(node.n, _ATOM)}"
    return to_text(node)


def _scope(scope: Scope) -> str:
    binds = [f"{b.name} in {_set(b.within)}" for b in scope.binds]
    return ", ".join([*binds, *(_at_least(c, _AND) for c in scope.conditions)])


def _list(items: tuple[Node, ...]) -> str:
    return f"[{', '.join(map(to_text, items))}]"


def _other(node: Node) -> str:
    if isinstance(node, Where):
        return f"where({to_text(node.cond)}, {to_text(node.then)}, {to_text(node.other)})"
    if isinstance(node, Extremum):
        return f"{node.op}({to_text(node.body)}, {_scope(node.scope)})"
    if isinstance(node, Pred):
        return f"{node.name}({to_text(node.body)}, {_scope(node.scope)})"
    if isinstance(node, Exists):
        return f"exists {_scope(node.scope)}: ({to_text(node.body)})"
    if isinstance(node, Claim):
        head = f"for {_scope(node.scope)}: " if node.scope.binds or node.scope.conditions else ""
        return (f"in {node.format}: " if node.format else "") + head + to_text(node.body)
    if isinstance(node, Fl):
        return f"fl({to_text(node.body)})"
    if isinstance(node, Ulp):
        return "ulp" if node.of is None else f"ulp({to_text(node.of)})"
    if isinstance(node, Index):
        return f"{node.vector}[{to_text(node.index)}]"
    if isinstance(node, Entry):
        return f"{_at_least(node.matrix, _ATOM)}[{to_text(node.row)}, {to_text(node.column)}]"
    if isinstance(node, Matrix):
        width = node.columns
        rows = (node.entries[k : k + width] for k in range(0, len(node.entries), width))
        return f"[{', '.join(map(_list, rows))}]"
    if isinstance(node, FiniteSet):
        return "{" + ", ".join(map(to_text, node.items)) + "}"
    if isinstance(node, Lse):
        tail = f", without={to_text(node.without)}" if node.without is not None else ""
        return f"lse({node.vector}{tail})"
    if isinstance(node, Softmax):
        return f"softmax({node.vector}, {to_text(node.index)})"
    if isinstance(node, Tg):
        tau = to_text(node.tau[0]) if len(node.tau) == 1 else _list(node.tau)
        return (
            f"tg({to_text(node.x)}, tau={tau}, theta={_list(node.theta)},"
            f" slope={_list(node.slope)}, intercept={_list(node.intercept)})"
        )
    return _calculus(node)


def _calculus(node: Node) -> str:
    if isinstance(node, Series):
        return f"{node.op}({to_text(node.body)}, {node.index} in {to_text(node.lo)}..{to_text(node.hi)})"
    if isinstance(node, Limit):
        side = f", {node.side}" if node.side else ""
        return f"limit({to_text(node.body)}, {node.var}, {to_text(node.point)}{side})"
    if isinstance(node, Diff):
        order = f", {node.order}" if node.order != 1 else ""
        return f"diff({to_text(node.body)}, {node.var}{order})"
    if isinstance(node, At):
        return f"at({to_text(node.body)}, {node.var}={to_text(node.value)})"
    if isinstance(node, Taylor):
        return f"taylor({to_text(node.body)}, {node.var}, {to_text(node.point)}, {node.order})"
    if isinstance(node, Integral):
        return f"integrate({to_text(node.body)}, {node.var}, {to_text(node.lo)}, {to_text(node.hi)})"
    if isinstance(node, Gauss):
        mean = "" if node.mean == Num(Fraction(0)) else f", mean={to_text(node.mean)}"
        return f"gauss({to_text(node.body)}, {node.var}, q={to_text(node.q)}{mean})"
    if isinstance(node, Average):
        first, second = to_text(node.first), to_text(node.second)
        names = ("", "") if node.law == "uniform" else ("scale=", "mean=")
        return f"{node.law}({to_text(node.body)}, {node.var}, {names[0]}{first}, {names[1]}{second})"
    if isinstance(node, Gauss2):
        return f"gauss2({to_text(node.body)}, {node.u}, {node.v}, q={to_text(node.q)}, c={to_text(node.c)})"
    if isinstance(node, MeanField):
        weights = "" if node.sigma_w2 is None else f", sigma_w2={to_text(node.sigma_w2)}"
        power = f", power={node.power}" if node.power != 1 else ""
        biases = f", sigma_b2={to_text(node.sigma_b2)}"
        return f"{node.op}({to_text(node.body)}, {node.var}{weights}{biases}{power})"
    return _set(node)
