"""The functions of the evaluator, by mpmath. Raises ValueError where there is no real value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

_ROUNDED = mpf(10) ** -25


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _root(x: Any) -> Any:
    # What rounding leaves of a 0 counts as 0.
    if x < -_ROUNDED:
        raise ValueError("a root of less than 0")
    return mp.sqrt(max(x, 0))


def _log(x: Any) -> Any:
    if x <= 0:
        raise ValueError("a logarithm of at most 0")
    return mp.log(x)


def _real(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function where its value is real."""

    def of(*arguments: Any) -> Any:
        found = f(*arguments)
        if mp.im(found) != 0:
            raise ValueError("not real")
        return mp.re(found)

    return of


def _positive(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function for a last argument above 0."""

    def of(*arguments: Any) -> Any:
        if arguments[-1] <= 0:
            raise ValueError("at most 0")
        return f(*arguments)

    return of


FUNCTIONS: dict[str, Any] = {
    **{
        n: _real(getattr(mp, n))
        for n in (
            "sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sech",
            "csch", "coth", "asinh", "acosh", "atanh", "exp", "erf", "erfc", "sign", "gamma", "zeta",
            "lambertw", "airyai", "airybi", "besselj", "besseli", "hyp1f1", "hyp2f1", "ei", "si", "beta",
        )
    },
    "abs": abs, "sqrt": _root, "log": _log, "pi": mp.pi, "e": mp.e, "oo": mp.inf, "mpf": mpf,
    "sigmoid": _sigmoid, "softplus": lambda x: mp.log1p(mp.exp(-abs(x))) + max(x, 0),
    "relu": lambda x: max(x, 0), "step": lambda x: mpf(x > 0),
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
    "expm1": mp.expm1, "log1p": mp.log1p,
    "loggamma": _positive(mp.loggamma), "digamma": _real(mp.digamma), "ci": _positive(mp.ci),
    "polygamma": _real(lambda n, x: mp.psi(int(n), x)),
    "zetaderiv": _real(lambda n, x: mp.zeta(x, 1, int(n))),
    "bessely": _positive(mp.bessely), "besselk": _positive(mp.besselk),
    "airyaiprime": lambda x: mp.airyai(x, derivative=1), "airybiprime": lambda x: mp.airybi(x, derivative=1),
    "elliptick": _real(mp.ellipk), "elliptice": _real(mp.ellipe),
}  # fmt: skip
