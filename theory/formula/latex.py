"""Formulas as LaTeX, as they are written: nothing is simplified."""

from __future__ import annotations

import re
from fractions import Fraction

from gateproof.theory import special
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.names import MATRIX as _MATRIX
from gateproof.theory.formula.nodes import (
    And,
    App,
    At,
    Const,
    Diff,
    Entry,
    Expr,
    Fl,
    In,
    IntervalSet,
    Matrix,
    MeanField,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Series,
    Tg,
    Ulp,
    Var,
    Where,
)
from gateproof.theory.formula.printer import decimal_text, to_text

_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta",
    "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
}  # fmt: skip
_KNOWN = {
    "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "ln", "cot", "sec", "csc",
    "coth",
}  # fmt: skip
_RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_CONSTANTS = {"pi": r"\pi", "e": "e", "oo": r"\infty"}
_RELATIONS = {"==": "=", "!=": r"\ne", "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge"}


def to_latex(node: Node) -> str:
    """LaTeX of an expression or a condition, for math mode."""
    return _print(node)[0]


def _at_least(node: Node, level: int) -> str:
    text, own = _print(node)
    return text if own >= level else _braced(text)


def _braced(text: str) -> str:
    return rf"\left({text}\right)"


def _name(name: str) -> str:
    stem, _, index = name.partition("_")
    if not index:
        stem = name.rstrip("0123456789") or name
        index = name[len(stem) :]
    stem = "lambda" if stem == "lam" else stem
    shown = rf"\{stem}" if stem in _GREEK or stem == "lambda" else stem
    shown = shown if len(stem) == 1 or shown[0] == "\\" else rf"\mathrm{{{stem}}}"
    clean = index.replace("_", r"\_")
    return f"{shown}_{{{clean}}}" if index else shown


def _number(value: Fraction) -> tuple[str, int]:
    text = decimal_text(value)
    if "/" not in text:
        return text, _ATOM if value >= 0 else _SUM
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", _PRODUCT if value >= 0 else _SUM


def _print(node: Node) -> tuple[str, int]:
    if isinstance(node, Num):
        return _number(node.value)
    if isinstance(node, Const):
        return _CONSTANTS[node.name], _ATOM
    if isinstance(node, Var):
        return _name(node.name), _ATOM
    if isinstance(node, App):
        return _app(node)
    if isinstance(node, Where):
        rows = (
            rf"{to_latex(node.then)} & {to_latex(node.cond)} \\ {to_latex(node.other)} & \text{{otherwise}}"
        )
        return rf"\begin{{cases}} {rows} \end{{cases}}", _ATOM
    if isinstance(node, Rel):
        parts = [to_latex(node.terms[0])]
        for op, term in zip(node.ops, node.terms[1:], strict=True):
            parts += [_RELATIONS[op], to_latex(term)]
        return " ".join(parts), _SUM
    return _other(node), _PRODUCT


def _other(node: Node) -> str:
    if isinstance(node, And | Or):
        word = r" \land " if isinstance(node, And) else r" \lor "
        return word.join(to_latex(p) for p in node.parts)
    if isinstance(node, Not):
        return rf"\lnot {_braced(to_latex(node.part))}"
    if isinstance(node, In) and isinstance(node.within, IntervalSet):
        s = node.within
        left, right = "[" if s.lo_closed else "(", "]" if s.hi_closed else ")"
        return rf"{to_latex(node.item)} \in {left}{to_latex(s.lo)}, {to_latex(s.hi)}{right}"
    if isinstance(node, Diff):
        order = f"^{{{node.order}}}" if node.order != 1 else ""
        power = rf"\mathrm{{d}}{_name(node.var)}{order}"
        return rf"\frac{{\mathrm{{d}}{order}}}{{{power}}} {_braced(to_latex(node.body))}"
    if isinstance(node, At):
        return rf"\left.{to_latex(node.body)}\right|_{{{_name(node.var)} = {to_latex(node.value)}}}"
    if isinstance(node, Series):
        sign = r"\sum" if node.op == "sum" else r"\prod"
        ends = rf"_{{{_name(node.index)} = {to_latex(node.lo)}}}^{{{to_latex(node.hi)}}}"
        return f"{sign}{ends} {_at_least(node.body, _PRODUCT)}"
    if isinstance(node, MeanField):
        given = [(r"\sigma_w^2", node.sigma_w2), (r"\sigma_b^2", node.sigma_b2)]
        variances = [f"{name} = {to_latex(value)}" for name, value in given if value is not None]
        if node.power != 1:
            variances.append(f"p = {node.power}")
        name = rf"\operatorname{{{_escaped(node.op)}}}_{{{_name(node.var)}}}"
        return name + _braced(f"{to_latex(node.body)}; {', '.join(variances)}")
    if isinstance(node, Fl):
        return r"\mathrm{fl}" + _braced(to_latex(node.body))
    if isinstance(node, Ulp):
        return r"\mathrm{ulp}" + ("" if node.of is None else _braced(to_latex(node.of)))
    if isinstance(node, Entry):
        return f"{_at_least(node.matrix, _ATOM)}_{{{to_latex(node.row)}, {to_latex(node.column)}}}"
    if isinstance(node, Matrix):
        width = node.columns
        rows = (node.entries[k : k + width] for k in range(0, len(node.entries), width))
        shown = r" \\ ".join(" & ".join(map(to_latex, row)) for row in rows)
        return rf"\begin{{bmatrix}} {shown} \end{{bmatrix}}"
    if isinstance(node, Tg):
        from gateproof.theory.threshold_gate import write_out

        return to_latex(write_out(node))
    raise FormulaError(f"{to_text(node)} has no LaTeX form here")


def _app(node: App) -> tuple[str, int]:
    head, args = node.head, node.args
    if head == "add":
        text = _at_least(args[0], _SUM)
        for arg in args[1:]:
            negative = isinstance(arg, App) and arg.head == "neg"
            inner = arg.args[0] if isinstance(arg, App) and negative else arg
            text += (" - " if negative else " + ") + _at_least(inner, _PRODUCT)
        return text, _SUM
    if head == "neg":
        return f"-{_at_least(args[0], _PRODUCT)}", _SUM
    if head == "mul":
        return _product(args), _PRODUCT
    if head == "div":
        return rf"\frac{{{to_latex(args[0])}}}{{{to_latex(args[1])}}}", _PRODUCT
    if head == "pow":
        return f"{_at_least(args[0], _ATOM)}^{{{to_latex(args[1])}}}", _POWER
    if head == "sqrt":
        return rf"\sqrt{{{to_latex(args[0])}}}", _ATOM
    if head == "abs":
        return rf"\left|{to_latex(args[0])}\right|", _ATOM
    if head in _MATRIX:
        return _matrix_call(head, args)
    if head == "exp":
        return f"e^{{{to_latex(args[0])}}}", _POWER
    family = special.FAMILIES.get(special.split(head)[0])
    if family is not None and len(args) == 1 + len(family.parameters) - len(special.split(head)[1]):
        texts = [to_latex(a) for a in (*map(_parameter, special.split(head)[1]), *args)]
        values = dict(zip((*family.parameters, "x"), texts, strict=True))
        return re.sub(r"\{(\w+)\}", lambda m: values.get(m[1], m[0]), family.latex), _ATOM
    name = _RENAMED.get(head, head)
    shown = rf"\{name}" if name in _KNOWN or head in _RENAMED else rf"\operatorname{{{_escaped(name)}}}"
    return shown + _braced(", ".join(map(to_latex, args))), _ATOM


def _parameter(text: str) -> Num:
    return Num(Fraction(text))


def _matrix_call(head: str, args: tuple[Expr, ...]) -> tuple[str, int]:
    """Calls on matrices in the signs of the field."""
    if head == "matmul":
        return " \\, ".join(_at_least(a, _PRODUCT) for a in args), _PRODUCT
    if head in ("transpose", "inverse"):
        sign = r"\top" if head == "transpose" else "-1"
        return f"{_at_least(args[0], _ATOM)}^{{{sign}}}", _POWER
    if head == "identity":
        return f"I_{{{to_latex(args[0])}}}", _ATOM
    if head == "frobenius":
        return rf"\left\|{to_latex(args[0])}\right\|_F", _ATOM
    name = r"\operatorname{tr}" if head == "trace" else rf"\{head}"
    return name + _braced(to_latex(args[0])), _ATOM


def _escaped(name: str) -> str:
    return name.replace("_", r"\_")


def _product(args: tuple[Expr, ...]) -> str:
    text = _at_least(args[0], _PRODUCT)
    for arg in args[1:]:
        more = _at_least(arg, _PRODUCT)
        # A number behind a factor needs a dot.
        text += (r" \cdot " if more[0].isdigit() or more[0] == "-" else r" \, ") + more
    return text
