"""The zoo with right values from outside: closed forms in mpmath and facts from calculus.

One table for every test that runs over all activations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath as mp


@dataclass(frozen=True)
class Known:
    """What is known of one function: values by mpmath, and facts."""

    text: str
    value: Callable[[Any], Any]
    parity: str | None
    kinks: tuple[tuple[Fraction, int], ...]
    left: tuple[Fraction, Fraction]
    right: tuple[Fraction, Fraction]


def _line(slope: int | Fraction, intercept: int | Fraction = 0) -> tuple[Fraction, Fraction]:
    return Fraction(slope), Fraction(intercept)


def _softplus(x: Any) -> Any:
    return mp.log(1 + mp.exp(x))


def _soft_threshold(x: Any) -> Any:
    return mp.sign(x) * max(abs(x) - mp.mpf(1) / 2, mp.mpf(0))


ZERO, ONE = _line(0), _line(1)

#: A formula of the language -> what is known of it.
ZOO: dict[str, Known] = {
    k.text: k
    for k in (
        Known("relu(x)", lambda x: max(x, mp.mpf(0)), None, ((Fraction(0), 0),), ZERO, ONE),
        Known(
            "leaky_relu(x)",
            lambda x: x if x > 0 else x / 100,
            None,
            ((Fraction(0), 0),),
            _line(Fraction(1, 100)),
            ONE,
        ),
        Known("silu(x)", lambda x: x / (1 + mp.exp(-x)), None, (), ZERO, ONE),
        Known("sigmoid(x)", lambda x: 1 / (1 + mp.exp(-x)), None, (), ZERO, _line(0, 1)),
        Known("tanh(x)", mp.tanh, "odd", (), _line(0, -1), _line(0, 1)),
        Known("gelu(x)", lambda x: x * mp.ncdf(x), None, (), ZERO, ONE),
        Known(
            "gelu_tanh(x)",
            lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(44715) / 10**6 * x**3))),
            None,
            (),
            ZERO,
            ONE,
        ),
        Known("softplus(x)", _softplus, None, (), ZERO, ONE),
        Known("mish(x)", lambda x: x * mp.tanh(_softplus(x)), None, (), ZERO, ONE),
        Known("erf(x)", mp.erf, "odd", (), _line(0, -1), _line(0, 1)),
        Known("sech(x)", mp.sech, "even", (), ZERO, ZERO),
        Known(
            "soft_threshold(x)",
            _soft_threshold,
            "odd",
            ((Fraction(-1, 2), 0), (Fraction(1, 2), 0)),
            _line(1, Fraction(1, 2)),
            _line(1, Fraction(-1, 2)),
        ),
    )
}
