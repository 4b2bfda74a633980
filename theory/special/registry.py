"""All families by name, and heads such as ``besselj[1/2]``."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import App, Expr, Num, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.special import airy, bessel, exponential, gamma, hypergeometric, lambert, zeta
from gateproof.theory.special.family import Family, Function

FAMILIES: dict[str, Family] = {
    family.name: family
    for module in (gamma, zeta, lambert, bessel, airy, exponential, hypergeometric)
    for family in module.FAMILIES
}
#: Larger numerators and denominators of a parameter are refused.
MAX_PARAMETER = 1000


def arities() -> dict[str, tuple[int, int | None]]:
    """Arguments of each, the parameters counted."""
    counts = {name: len(f.parameters) + 1 for name, f in FAMILIES.items()}
    return {name: (count, count) for name, count in counts.items()}


def split(head: str) -> tuple[str, tuple[str, ...]]:
    """The name and the parameters, as text, of a head."""
    name, _, rest = head.partition("[")
    return name, tuple(rest[:-1].split(",")) if rest else ()


@lru_cache(maxsize=1024)
def find(head: str) -> Function | None:
    """The function of a head, or None where it is no special function with its parameters."""
    name, texts = split(head)
    family = FAMILIES.get(name)
    if family is None or len(texts) != len(family.parameters):
        return None
    try:
        params = tuple(Fraction(t) for t in texts)
    except (ValueError, ZeroDivisionError):
        return None
    if head != head_of(name, params) or family.fault(params) is not None:
        return None
    return Function(family, params)


def is_head(head: str) -> bool:
    """Whether it is a special function of one argument."""
    return find(head) is not None


def head_of(name: str, params: tuple[Fraction, ...]) -> str:
    """The head of a family's member."""
    return f"{name}[{','.join(map(str, params))}]" if params else name


def shown(head: str) -> str:
    """A head as it is written: ``besselj(1/2, x)``."""
    name, params = split(head)
    return f"{name}({', '.join([*params, 'x'])})"


def has_numbers(node: App) -> bool:
    """Whether a call has rational numbers for parameters; those of others may become such."""
    family = FAMILIES.get(node.head)
    if family is None or len(node.args) != len(family.parameters) + 1:
        return False
    return all(constant_value(a) is not None for a in node.args[:-1])


def resolved(node: App) -> Expr:
    """``besselj(1/2, x)`` as a function of x. Raises FormulaError for parameters that it does not take."""
    family = FAMILIES.get(node.head)
    if family is None or not family.parameters or len(node.args) == 1:
        return node
    values = [constant_value(a) for a in node.args[:-1]]
    params = tuple(v for v in values if v is not None)
    if len(params) < len(values):
        words = ", ".join(family.parameters)
        raise FormulaError(f"{node.head}: {words} must be given as rational numbers", name=node.head)
    large = any(max(abs(p.numerator), p.denominator) > MAX_PARAMETER for p in params)
    fault = f"numbers up to {MAX_PARAMETER} are taken" if large else family.fault(params)
    if fault is not None:
        raise FormulaError(f"{node.head}: {fault}", name=node.head)
    factor = Fraction(1)
    if family.canonical is not None:
        factor, params = family.canonical(params)
    name = node.head
    if name == "polygamma" and params[0] == 0:
        name, params = "digamma", ()
    found: Expr = App(head_of(name, params), (node.args[-1],))
    if factor == -1:
        return App("neg", (found,))
    return found if factor == 1 else App("mul", (Num(factor), found)) if factor else num(0)
