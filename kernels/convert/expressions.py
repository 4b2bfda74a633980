"""PyTorch's pointwise calls as expressions of the claim language in one tensor, the root.

``counted`` gives the name of a pointwise call, ``expression`` what it computes. The names are also what calls
in a compiled forward are recognised by, so they depend on the function alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

import torch

from gateproof.kernels.convert.kinds import KINDS
from gateproof.kernels.convert.spelled import SPELLINGS
from gateproof.theory.formula import parse_expr, substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Var, Where, num

_T = torch.Tensor
X = Var("x")

#: What is computed of tensors, by name: PyTorch's names of it.
_NAMES: dict[str, tuple[str, ...]] = {
    "add": ("add",), "sub": ("sub", "subtract"), "rsub": ("rsub",), "mul": ("mul", "multiply"),
    "div": ("div", "divide", "true_divide"), "neg": ("neg", "negative"), "pow": ("pow",),
    "square": ("square",), "reciprocal": ("reciprocal",), "sqrt": ("sqrt",), "exp": ("exp",),
    "expm1": ("expm1",), "log": ("log",), "log1p": ("log1p",), "sinh": ("sinh",),
    "cosh": ("cosh",), "asinh": ("asinh", "arcsinh"), "atan": ("atan", "arctan"), "sign": ("sign",),
    "gt": ("gt", "greater"), "lt": ("lt", "less"), "ge": ("ge", "greater_equal"),
    "le": ("le", "less_equal"), "where": ("where",), "masked_fill": ("masked_fill",),
    "max": ("maximum", "max"), "min": ("minimum", "min"), "zeros": ("zeros_like",), "ones": ("ones_like",),
    "cast": ("to", "float", "double", "half", "bfloat16", "type", "type_as"),
}  # fmt: skip


def _table() -> dict[Any, str]:
    found: dict[Any, str] = {}
    for name, spelled in _NAMES.items():
        for s in spelled:
            for space in (torch, _T, torch.special):
                for text, kept in ((s, name), (f"{s}_", f"{name}_")):
                    # PyTorch compares in place as well; a tensor of numbers holds the answer then.
                    own = name not in ("gt", "lt", "ge", "le", "where", "cast") or not text.endswith("_")
                    if own and callable(f := getattr(space, text, None)) and not isinstance(f, type):
                        found[f] = kept
    found.update((f, f"*{s.kind}") for f, s in SPELLINGS.items())
    return found


COUNTED = _table()


def counted(function: Any) -> str | None:
    """The name of a pointwise call, None for others."""
    name = COUNTED.get(function)
    if name is not None:
        return name
    # A compiler does not find what Python wraps in a table.
    if function is _T.__rsub__:
        return "rsub"
    if function is _T.__rdiv__:
        return "rdiv"
    return "pow" if function is _T.__pow__ else None


def number(value: float) -> Expr | None:
    """A plain number as it was typed; None for one that is not finite."""
    if not isfinite(value):
        return None
    return Num(Fraction(Decimal(repr(value))))


def _times(a: Expr, b: Expr) -> Expr:
    return App("mul", (a, b))


def _scaled(b: Any, alpha: Any) -> Expr:
    return b if alpha == 1 else _times(num(Fraction(Decimal(repr(alpha)))), b)


def _relation(op: str) -> Callable[..., Rel]:
    return lambda a, b: Rel((op,), (a, b))


def _indicator(a: Any) -> Any:
    return Where(a, num(1), num(0)) if isinstance(a, Rel) else a


def _mul(a: Any, b: Any) -> Expr:
    return _times(_indicator(a), _indicator(b))


def _sub(a: Any, b: Any, *, alpha: Any = 1) -> Expr:
    return App("add", (a, App("neg", (_scaled(b, alpha),))))


def _power(a: Expr, b: Any) -> Expr:
    return App("pow", (a, b))


_BUILD: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, *, alpha=1: App("add", (a, _scaled(b, alpha))),
    "sub": _sub,
    "rsub": lambda a, b, *, alpha=1: App("add", (b, App("neg", (_scaled(a, alpha),)))),
    "mul": _mul,
    "div": lambda a, b: App("div", (a, b)),
    "rdiv": lambda a, b: App("div", (b, a)),
    "neg": lambda a: App("neg", (a,)),
    "pow": _power,
    "square": lambda a: _power(a, num(2)),
    "reciprocal": lambda a: App("div", (num(1), a)),
    "expm1": lambda a: substitute(parse_expr("expm1(x)"), {"x": a}),
    "log1p": lambda a: substitute(parse_expr("log1p(x)"), {"x": a}),
    "gt": _relation(">"),
    "lt": _relation("<"),
    "ge": _relation(">="),
    "le": _relation("<="),
    "where": lambda c, a, b: Where(c, a, b) if isinstance(c, Rel) else None,
    "masked_fill": lambda a, c, b: Where(c, b, a) if isinstance(c, Rel) else None,
    "max": lambda a, b: App("max", (a, b)),
    "min": lambda a, b: App("min", (a, b)),
    **{name: (lambda a, _h=name: App(_h, (a,)))
       for name in ("sqrt", "exp", "log", "sinh", "cosh", "asinh", "atan", "sign")},
}  # fmt: skip

#: Without these an expression is no activation: lines, powers, roots, and what no handler sees.
UNSEEN = ("exp", "expm1", "log1p", "sinh", "cosh", "asinh", "atan", "sign", "where", "masked_fill")
#: Of one function of the root an affine one.
AFFINE = ("add", "sub", "rsub", "neg")


def expression(name: str, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The call's expression, of arguments that are expressions, relations and numbers; None: it has none.

    ``args`` and ``kwargs`` hold an Expr or Rel where a tensor stood, and everything else as it was.
    """
    if name.startswith("*"):
        return _of_kind(function, args, kwargs)
    build = _BUILD.get(name.removesuffix("_"))
    kwargs = {k: v for k, v in kwargs.items() if v is not None}
    if build is None or set(kwargs) - {"alpha"}:
        return None
    given = [number(a) if isinstance(a, (int, float)) and not isinstance(a, bool) else a for a in args]
    relations = name in ("where", "masked_fill", "mul", "mul_", "masked_fill_")
    if any(not isinstance(a, Expr) and not (relations and isinstance(a, Rel)) for a in given):
        return None
    try:
        return build(*given, **kwargs)
    except TypeError:
        # Another overload of the call.
        return None


def _of_kind(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Expr | None:
    spelling = SPELLINGS[function]
    given = spelling.bound(args, kwargs)
    if given is None or not isinstance(given["input"], Expr):
        return None
    if any(isinstance(v, (Expr, Rel)) for k, v in given.items() if k != "input"):
        return None
    numbers = spelling.numbers(given)
    if numbers is None:
        return None
    return substitute(parsed(KINDS[spelling.kind](*numbers).formula), {"x": given["input"]})


def parsed(formula: str) -> Expr:
    """A formula in x; a name alone is the function of x."""
    return parse_expr(f"{formula}(x)" if formula.isidentifier() else formula)
