"""Points without a value that are not known exactly: a divisor that changes its sign.

A divisor that is continuous on an interval of the scope and has opposite signs at its ends is 0 in
between, by the intermediate value theorem; so is the cosine below a tangent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from gateproof.numerics.bounds import prove_bounds
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import difference_sign
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.continuity import continuous
from gateproof.proofs_check.engine.outcome import Outcome, ill_posed
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Where, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Points between which a sign is looked for, and divisors that are looked at.
POINTS, DIVISORS = 60, 6


def undefined_between(space: Space, expr: Expr, context: Context) -> Outcome | None:
    """The ill-posed outcome where a divisor of the expression is certainly 0 in the space, else None."""
    if space.facts or space.vectors:
        return None
    tried = list(points(space, (expr,), context.settings.seed, POINTS))
    for count, (divisor, node) in enumerate(_divisors(expr)):
        if count >= DIVISORS:
            return None
        for name in sorted(free_names(divisor)):
            found = _zero_between(space, divisor, name, tried, context)
            if found is not None:
                where = f"for some {name} between {found[0]} and {found[1]}"
                return ill_posed(
                    f"undefined {where}: {to_text(node)}", {name: f"in [{found[0]}, {found[1]}]"}
                )
    return None


def _divisors(node: Node) -> Iterator[tuple[Expr, Expr]]:
    """What must not be 0, with the part that it belongs to; branches of cases are left out."""
    if isinstance(node, Where):
        return
    if isinstance(node, App):
        if node.head == "div":
            yield node.args[1], node
        if node.head == "tan":
            yield App("cos", node.args), node
        if node.head == "pow":
            exponent = constant_value(node.args[1])
            if exponent is not None and exponent < 0 and exponent.denominator == 1:
                yield node.args[0], node
    for child in node.children():
        yield from _divisors(child)


def _zero_between(
    space: Space, divisor: Expr, name: str, tried: Sequence[Mapping[str, Fraction]], context: Context
) -> tuple[Fraction, Fraction] | None:
    """Two values of a name with opposite signs of the divisor, the other names fixed."""
    domain = space.domains.get(name)
    if domain is None or domain.integer or domain.without or not tried:
        return None
    others: dict[str, Expr] = {k: Num(v) for k, v in tried[0].items() if k != name}
    body = substitute(divisor, others)
    if free_names(body) != {name} or continuous(body, name, Space({name: domain})).truth is not True:
        return None
    last: tuple[int, Fraction] | None = None
    for value in sorted({p[name] for p in tried if name in p}):
        try:
            sign = difference_sign(body, num(0), {name: value}, 256)
        except NumericsError:
            sign = None
        if sign not in (1, -1):
            last = None
            continue
        if last is not None and last[0] == -sign:
            box: dict[str, tuple[Fraction | None, Fraction | None]] = {name: (last[1], value)}
            if prove_bounds(body, box, budget=context.first_budget()).status == "proved":
                return last[1], value
        last = sign, value
    return None
