"""Readers of the calls with their own syntax: binders, limits, gates.

Each entry of CALLS takes the parser, standing at '(', and the token of the name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gateproof.theory.formula import floating, names
from gateproof.theory.formula.nodes import (
    App,
    At,
    Average,
    Const,
    Diff,
    Expr,
    Extremum,
    Gauss,
    Gauss2,
    Integral,
    Limit,
    Lse,
    MeanField,
    Node,
    Num,
    Series,
    Softmax,
    Taylor,
    Tg,
    Where,
    num,
)
from gateproof.theory.formula.powers import constant_value

if TYPE_CHECKING:
    from gateproof.theory.formula.parser import Parser
    from gateproof.theory.formula.tokens import Token

MAX_BRANCHES = 64
MAX_ORDER = 200
Reader = Callable[["Parser", "Token"], Node]


def _comma(parser: Parser, what: str) -> None:
    parser.expect(",", f"',' and {what}")


def _extremum(parser: Parser, token: Token) -> Node:
    parser.expect("(")
    start = parser.token
    body = parser.expression()
    optional = token.text in ("max", "min")
    if optional and not _at_bind(parser):
        args = [body]
        while parser.take(","):
            args.append(parser.expression())
        parser.expect(")")
        return App(token.text, tuple(args))
    if isinstance(body, Num):
        start = parser.token
    parser.expect(",", "',' and the set of a name, as in 'x in R'")
    scope = parser.scope(")")
    if not scope.binds:
        raise parser.error(f"{token.text} needs a name with its set, as in 'x in R'", start)
    parser.expect(")")
    return Extremum(token.text, body, scope)


def _at_bind(parser: Parser) -> bool:
    return parser.token.text == "," and parser.peek().kind == "name" and parser.peek(2).text == "in"


def _series(parser: Parser, token: Token) -> Node:
    parser.expect("(")
    body = parser.expression()
    _comma(parser, "an index with its range, as in 'k in 1..n'")
    index = parser.name("an index").text
    parser.expect("in")
    lo = parser.expression()
    parser.expect("..")
    hi = parser.expression()
    parser.expect(")")
    return Series(token.text, body, index, lo, hi)


def _body_and_name(parser: Parser) -> tuple[Expr, str]:
    parser.expect("(")
    body = parser.expression()
    _comma(parser, "a name")
    return body, parser.name("a name").text


def _limit(parser: Parser, token: Token) -> Node:
    body, var = _body_and_name(parser)
    _comma(parser, "a point")
    point = parser.expression()
    side = ""
    if parser.take(","):
        side = parser.advance().text.strip('"')
        if side not in ("+", "-"):
            raise parser.error("the side of a limit is + or -", token)
    parser.expect(")")
    return Limit(body, var, point, side)


def _order(parser: Parser, what: str) -> int:
    token = parser.token
    node = parser.expression()
    if not isinstance(node, Num) or node.value.denominator != 1 or not 0 <= node.value <= MAX_ORDER:
        raise parser.error(f"{what} is a whole number from 0 to {MAX_ORDER}", token)
    return int(node.value)


def _diff(parser: Parser, _token: Token) -> Node:
    body, var = _body_and_name(parser)
    order = _order(parser, "the order of a derivative") if parser.take(",") else 1
    parser.expect(")")
    return Diff(body, var, order)


def _at(parser: Parser, _token: Token) -> Node:
    body, var = _body_and_name(parser)
    parser.expect("=")
    value = parser.expression()
    parser.expect(")")
    return At(body, var, value)


def _taylor(parser: Parser, _token: Token) -> Node:
    body, var = _body_and_name(parser)
    _comma(parser, "a point")
    point = parser.expression()
    _comma(parser, "a degree")
    order = _order(parser, "the degree")
    parser.expect(")")
    return Taylor(body, var, point, order)


def _integrate(parser: Parser, _token: Token) -> Node:
    body, var = _body_and_name(parser)
    _comma(parser, "the lower end")
    lo = parser.expression()
    _comma(parser, "the upper end")
    hi = parser.expression()
    parser.expect(")")
    return Integral(body, var, lo, hi)


def _keyword(parser: Parser, word: str) -> None:
    _comma(parser, f"{word}=")
    token = parser.name(f"{word}=")
    if token.text != word:
        raise parser.error(f"expected {word}=, found {token.text!r}", token)
    parser.expect("=")


def _gauss(parser: Parser, _token: Token) -> Node:
    body, var = _body_and_name(parser)
    _keyword(parser, "q")
    q = parser.expression()
    mean: Expr = num(0)
    if parser.token.text == ",":
        _keyword(parser, "mean")
        mean = parser.expression()
    parser.expect(")")
    return Gauss(body, var, q, mean)


def _gauss2(parser: Parser, _token: Token) -> Node:
    body, u = _body_and_name(parser)
    _comma(parser, "a second name")
    v = parser.name("a name").text
    _keyword(parser, "q")
    q = parser.expression()
    _keyword(parser, "c")
    c = parser.expression()
    parser.expect(")")
    return Gauss2(body, u, v, q, c)


def _logistic(parser: Parser, token: Token) -> Node:
    parser.expect("(")
    body = parser.expression()
    if parser.token.text == ")":
        hint = "write sigmoid(x); logistic(f, z, scale=1) is a mean"
        raise parser.error("logistic needs a name behind the formula", token, hint)
    _comma(parser, "a name")
    var = parser.name("a name").text
    given: dict[str, Expr] = {"scale": num(1), "mean": num(0)}
    seen: set[str] = set()
    while parser.take(","):
        key = parser.name("scale= or mean=")
        if key.text not in given or key.text in seen:
            raise parser.error(f"{key.text!r} is not expected here", key, "scale=, mean=, once each")
        seen.add(key.text)
        parser.expect("=")
        start = parser.token
        given[key.text] = parser.expression()
        value = constant_value(given["scale"])
        if value is not None and value <= 0:
            raise parser.error("the scale of a logistic variable is positive", start)
    parser.expect(")")
    return Average("logistic", body, var, given["scale"], given["mean"])


def _uniform(parser: Parser, _token: Token) -> Node:
    body, var = _body_and_name(parser)
    _comma(parser, "the lower end")
    start = parser.token
    lo = parser.expression()
    _comma(parser, "the upper end")
    hi = parser.expression()
    ends = [constant_value(lo), constant_value(hi)]
    if any(isinstance(n, Const) and n.name == "oo" for e in (lo, hi) for n in e.walk()):
        raise parser.error("a uniform variable lies between two finite numbers", start)
    if ends[0] is not None and ends[1] is not None and ends[0] >= ends[1]:
        raise parser.error("the lower end of a uniform variable is less than the upper one", start)
    parser.expect(")")
    return Average("uniform", body, var, lo, hi)


def _mean_field(parser: Parser, token: Token) -> Node:
    body, var = _body_and_name(parser)
    sigma_w2: Expr | None = None
    if token.text == "fixed_points":
        _keyword(parser, "sigma_w2")
        sigma_w2 = parser.expression()
    _keyword(parser, "sigma_b2")
    sigma_b2 = parser.expression()
    power = 1
    if token.text == "depth_rate" and parser.token.text == ",":
        _keyword(parser, "power")
        start = parser.token
        given = parser.expression()
        if given not in (num(1), num(2)):
            raise parser.error("the power of a depth rate is 1 or 2", start)
        power = 1 if given == num(1) else 2
    parser.expect(")")
    return MeanField(token.text, body, var, sigma_w2, sigma_b2, power)


def _where(parser: Parser, _token: Token) -> Node:
    parser.expect("(")
    cond = parser.statement()
    _comma(parser, "the value where the condition holds")
    then = parser.expression()
    _comma(parser, "the value elsewhere")
    other = parser.expression()
    parser.expect(")")
    return Where(cond, then, other)


def _list(parser: Parser) -> tuple[Expr, ...]:
    if not parser.take("["):
        return (parser.expression(),)
    items: list[Expr] = []
    if parser.token.text != "]":
        items.append(parser.expression())
        while parser.take(","):
            items.append(parser.expression())
    parser.expect("]")
    return tuple(items)


def _tg(parser: Parser, token: Token) -> Node:
    parser.expect("(")
    x = parser.expression()
    given: dict[str, tuple[Expr, ...]] = {}
    while parser.take(","):
        key = parser.name("tau=, theta=, slope= or intercept=")
        if key.text not in ("tau", "theta", "slope", "intercept") or key.text in given:
            raise parser.error(
                f"{key.text!r} is not expected here", key, "tau=, theta=, slope=, intercept=, once each"
            )
        parser.expect("=")
        given[key.text] = _list(parser)
    parser.expect(")")
    missing = [k for k in ("tau", "theta", "slope", "intercept") if k not in given]
    if missing:
        raise parser.error(f"tg needs {missing[0]}=", token)
    theta = given["theta"]
    tau, slope, intercept = given["tau"], given["slope"], given["intercept"]
    branches = len(theta) + 1
    if branches > MAX_BRANCHES:
        raise parser.error(f"at most {MAX_BRANCHES} branches", token)
    if len(slope) != branches or len(intercept) != branches:
        raise parser.error(
            f"{len(theta)} threshold(s) need {branches} slopes and {branches} intercepts", token
        )
    if len(tau) not in (1, len(theta)):
        raise parser.error(f"one sharpness or {len(theta)}, found {len(tau)}", token)
    return Tg(x, tau, theta, slope, intercept)


def _lse(parser: Parser, _token: Token) -> Node:
    parser.expect("(")
    vector = parser.name("a vector").text
    without: Expr | None = None
    if parser.token.text == ",":
        _keyword(parser, "without")
        without = parser.expression()
    parser.expect(")")
    return Lse(vector, without)


def _softmax(parser: Parser, _token: Token) -> Node:
    parser.expect("(")
    vector = parser.name("a vector").text
    _comma(parser, "a place")
    index = parser.expression()
    parser.expect(")")
    return Softmax(vector, index)


CALLS: dict[str, Reader] = {
    **dict.fromkeys(("sup", "inf", "max", "min", "argmax", "argmin", "zeros"), _extremum),
    **dict.fromkeys(("sum", "prod"), _series),
    "limit": _limit,
    "diff": _diff,
    "at": _at,
    "taylor": _taylor,
    "integrate": _integrate,
    "gauss": _gauss,
    "gauss2": _gauss2,
    "logistic": _logistic,
    "uniform": _uniform,
    **dict.fromkeys(names.FIELD, _mean_field),
    "where": _where,
    "tg": _tg,
    "lse": _lse,
    "softmax": _softmax,
    **floating.CALLS,
}
