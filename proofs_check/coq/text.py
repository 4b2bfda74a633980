"""Core formulas as terms of Coq's reals, a plain transcription."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var
from gateproof.theory.formula.powers import constant_value

#: Heads that are one Coq function; the last three are defined in the preamble.
_NAMES = {
    **{h: h for h in ("exp", "sqrt", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")},
    **{h: h for h in ("sigmoid", "softplus", "sech")},
    "log": "ln",
    "abs": "Rabs",
}
#: Names that mean something else in a file.
_TAKEN = frozenset({"t", "y"})


def variable(name: str) -> str:
    """The name of a variable in Coq: itself where it is a plain letter that is free there."""
    if re.fullmatch(r"[a-z]", name) and name not in _TAKEN:
        return name
    return "v_" + re.sub(r"[^A-Za-z0-9_]", lambda found: f"u{ord(found[0]):x}", name)


def number(value: Fraction) -> str:
    """A rational number, in brackets where it is not a whole number without a sign."""
    if value.denominator == 1:
        return str(value.numerator) if value >= 0 else f"(- {-value.numerator})"
    sign = "- " if value < 0 else ""
    return f"({sign}{abs(value.numerator)} / {value.denominator})"


def term(node: Expr, names: Mapping[str, str]) -> str:
    """The term, its variables written as ``names`` says. Raises RefusedError, naming what has no term."""
    if isinstance(node, Num):
        return number(node.value)
    if isinstance(node, Var):
        return names[node.name]
    if isinstance(node, Const) and node.name in ("pi", "e"):
        return "PI" if node.name == "pi" else "(exp 1)"
    if not isinstance(node, App):
        what = node.name if isinstance(node, Const) else type(node).__name__.lower()
        raise _unknown(what)
    head = node.head
    if head == "pow":
        return _power(node.args[0], node.args[1], names)
    parts = [term(arg, names) for arg in node.args]
    if head in ("add", "mul"):
        return parts[0] if len(parts) == 1 else f"({(' + ' if head == 'add' else ' * ').join(parts)})"
    if head == "neg":
        return f"(- {parts[0]})"
    if head == "div":
        return f"({parts[0]} / {parts[1]})"
    if head in ("max", "min"):
        *rest, last = parts
        for part in reversed(rest):
            last = f"(R{head} {part} {last})"
        return last
    if head in _NAMES:
        return f"({_NAMES[head]} {parts[0]})"
    raise _unknown(head)


def _power(base: Expr, exponent: Expr, names: Mapping[str, str]) -> str:
    value = constant_value(exponent)
    if value is None or value.denominator > 2 or abs(value.numerator) > 1000:
        raise RefusedError(
            "a power has no transcription into Coq here unless its exponent is whole or a half"
        )
    inner = term(base, names)
    if value.denominator == 2:
        inner = f"(sqrt {inner})"
    raised = f"({inner} ^ {abs(value.numerator)})"
    return raised if value >= 0 else f"(/ {raised})"


def _unknown(what: str) -> RefusedError:
    return RefusedError(
        f"{what} is not among the functions that coq-interval knows: no Coq file for this formula"
    )
