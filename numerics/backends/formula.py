"""``formula(text)``: one definition with a callable for each backend."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from numbers import Real
from typing import Any

from gateproof.numerics.backends import prepare
from gateproof.numerics.backends.normal import normal
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.backends.op import Op, value_op
from gateproof.numerics.backends.partial import first_partial
from gateproof.numerics.backends.patches import patched
from gateproof.theory.formula import FormulaError, free_names, parse_expr, substitute, to_text
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.tokens import tokenize

Number = int | float | str | Fraction


def formula(text: str, **parameters: Number) -> Formula:
    """A formula of the language; keywords give names a default: ``formula("a*x", a="1/4")``.

    Nothing in the text is evaluated as code. Raises FormulaError with a column for text that is no formula,
    and by name for what has no form for arrays (suprema, integrals, vectors), and for a default that is no
    number or outside of its parameter's domain. Raises TypeError for a text that is no string.
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula's text is expected, found {type(text).__name__}")
    return _formula(text, tuple((name, _written(name, value)) for name, value in parameters.items()))


@lru_cache(maxsize=256)
def _formula(text: str, parameters: tuple[tuple[str, str], ...]) -> Formula:
    parsed = parse_expr(text)
    defaults = {name: _number(name, value) for name, value in parameters}
    free = free_names(parsed)
    unknown = sorted(set(defaults) - free)
    if unknown:
        raise FormulaError(f"{unknown[0]!r} is not in the formula", name=unknown[0])
    order = dict.fromkeys(t.text for t in tokenize(text) if t.kind == "name" and t.text in free)
    names = ("x", *(n for n in order if n != "x")) if "x" in free else tuple(order)
    made = Formula(text, parsed, names, defaults)
    if defaults:
        _refuse_outside(parsed, defaults)
    return made


def _refuse_outside(parsed: Expr, defaults: Mapping[str, Expr]) -> None:
    """Refuse a default that its parameter's domain does not have, or that leaves no value anywhere."""
    try:
        prepare.core(substitute(parsed, defaults))
    except FormulaError as error:
        given = ", ".join(f"{n} = {to_text(v)}" for n, v in defaults.items())
        raise FormulaError(f"with {given}: {error.message}", hint=error.hint) from None


def _written(name: str, value: Any) -> str:
    """A default as text. A float is the decimal that it prints as: 0.1 is one tenth."""
    if isinstance(value, float):
        if not isfinite(value):
            raise FormulaError(f"{name} = {value} is not a finite number", name=name)
        return repr(float(value))
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise FormulaError(f"{name} = {value!r} is not a number: each default is one number", name=name)
    return str(value)


def _number(name: str, value: str) -> Expr:
    found = parse_expr(value)
    if free_names(found):
        raise FormulaError(f"{name} = {value!r} is not a number", name=name)
    return found


class Formula:
    """A function of real numbers with one callable a backend; each is made on its first use.

    Arguments are ``names`` in order: x first, then the others as they first stand in the text; those with a
    default in ``parameters`` may be left out, and all may be given by keyword.
    """

    def __init__(
        self,
        text: str,
        parsed: Expr,
        names: tuple[str, ...],
        defaults: Mapping[str, Expr],
        core: Expr | None = None,
    ) -> None:
        self.text = text
        self.names = names
        self.parameters = {n: to_text(v) for n, v in defaults.items()}
        self._parsed = parsed
        self._defaults = dict(defaults)
        self._core = prepare.core(parsed) if core is None else core
        self._whole: tuple[Formula, str] | None = None
        self._ops: dict[tuple[str, ...], Op] = {}

    def __repr__(self) -> str:
        return f"formula({self.text!r})"

    @cached_property
    def latex(self) -> str:
        """The formula as it is written, in LaTeX."""
        from gateproof.theory.formula.latex import to_latex

        return to_latex(self._parsed)

    @cached_property
    def domain(self) -> str:
        """Where the formula has a real value, as a condition in the language; ``R`` if everywhere."""
        from gateproof.numerics.backends.domain import domain_text

        return domain_text(self._core)

    def gradient(self, name: str | None = None) -> Formula:
        """The partial derivative in a name (the first by default), by the convention at kinks."""
        name = self.names[0] if name is None else name
        if name not in self.names:
            raise FormulaError(f"{name!r} is not in the formula", name=name)
        core = prepare.least(first_partial(normal(self._core), name))
        derived = Formula(f"diff({self.text}, {name})", self._parsed, self.names, self._defaults, core)
        derived._whole = (self, name)
        return derived

    def __reduce__(self) -> tuple[Any, ...]:
        if self._whole is not None:
            return Formula.gradient, self._whole
        return _formula, (self.text, tuple(self.parameters.items()))

    # --- backends -------------------------------------------------------------

    def _op(self, given: tuple[str, ...]) -> Op:
        found = self._ops.get(given)
        if found is None:
            if self._whole is not None:
                whole, name = self._whole
                found = whole._op(given).partial(name)
            else:
                found = value_op(patched(normal(self._fixed(given))), given)
            self._ops[given] = found
        return found

    def _fixed(self, given: tuple[str, ...]) -> Expr:
        return substitute(self._core, {n: v for n, v in self._defaults.items() if n not in given})

    def _bind(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        if len(args) > len(self.names):
            raise TypeError(
                f"{len(self.names)} argument(s) {', '.join(self.names)} are expected, found {len(args)}"
            )
        values = dict(zip(self.names, args, strict=False))
        for name, value in keywords.items():
            if name not in self.names or name in values:
                raise TypeError(f"{name!r} is {'given twice' if name in values else 'not in the formula'}")
            values[name] = value
        missing = [n for n in self.names if n not in values and n not in self._defaults]
        if missing:
            raise TypeError(f"{missing[0]!r} is not given")
        given = tuple(n for n in self.names if n in values)
        return given, tuple(values[n] for n in given)

    @cached_property
    def numpy(self) -> Callable[..., Any]:
        """On NumPy arrays and Python numbers."""
        return _Arrays(self, "with_numpy")

    @cached_property
    def torch(self) -> Callable[..., Any]:
        """On PyTorch tensors; differentiable, and traced by torch.compile."""
        return _Arrays(self, "with_torch")

    @cached_property
    def jax(self) -> Callable[..., Any]:
        """On JAX arrays; for jit, vmap and grad."""
        return _Arrays(self, "with_jax")

    @cached_property
    def mp(self) -> Callable[..., Any]:
        """At mpmath's current precision."""
        return _Exact(self, "with_mpmath")

    @cached_property
    def ball(self) -> Callable[..., Any]:
        """Rigorous enclosures as python-flint balls."""
        return _Exact(self, "with_balls")


def _require(library: str) -> None:
    """Raise ModuleNotFoundError, with what to install, for torch, jax or mpmath where it is missing."""
    if library not in ("torch", "jax", "mpmath") or sys.modules.get(library) is not None:
        return
    if find_spec(library) is None:
        raise ModuleNotFoundError(f"{library} is not installed: pip install {library}", name=library)


class _Call:
    """A formula in one backend. It can be pickled, and so can a module that holds it."""

    def __init__(self, formula: Formula, module: str) -> None:
        self.formula = formula
        self.module = module
        _require(module.removeprefix("with_"))
        backend = import_module(f"gateproof.numerics.backends.{module}")
        self.run: Callable[..., Any] = backend.run
        if hasattr(backend, "ready"):
            required = tuple(n for n in formula.names if n not in formula.parameters)
            for names in (formula.names, required):
                backend.ready(formula._op(names))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.formula, self.module)


class _Arrays(_Call):
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        given, values = self.formula._bind(args, keywords)
        whole = self.formula._whole
        if whole is not None and whole[1] not in given:
            # A derivative in a name that was left out is taken before the name gets its default.
            given, values = (*given, whole[1]), (*values, to_float(self.formula._defaults[whole[1]]))
        return self.run(self.formula._op(given), values)


class _Exact(_Call):
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        given, values = self.formula._bind(args, keywords)
        return self.run(self.formula._fixed(given), given, values)
