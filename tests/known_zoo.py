"""The zoo with right values from outside: closed forms in mpmath and facts from calculus.

One table for every test that runs over all activations. A line is: formula; value by mpmath, in
the textbook form; parity; kinks with their order ('1/2:-1', order -1 is a jump); the line at the
left and at the right end as 'slope intercept', or the word that says why there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

PERIODIC, WAVES, AWAY = "periodic", "oscillates about a line", "leaves every line of its slope"
_REASONS = (PERIODIC, WAVES, AWAY)


@dataclass(frozen=True)
class Known:
    """What is known of one function: values by mpmath, and facts."""

    text: str
    value: Callable[[Any], Any]
    parity: str
    kinks: str
    left: str
    right: str

    def kink_list(self) -> list[tuple[str, int]]:
        """Places (as formula text) and orders."""
        return [(at, int(order)) for at, order in (k.split(":") for k in self.kinks.split())]

    def line(self, side: str) -> tuple[str, str] | None:
        """Slope and intercept as formula text, None where there is no asymptote."""
        text = self.left if side == "-" else self.right
        if text in _REASONS:
            return None
        slope, intercept = text.split()
        return slope, intercept


def _sigma(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _softplus(x: Any) -> Any:
    return mp.log(1 + mp.exp(x))


def _clip(x: Any, lo: Any, hi: Any) -> Any:
    return max(mp.mpf(lo), min(mp.mpf(hi), x))


def _selu(x: Any) -> Any:
    scale = mp.mpf("1.0507009873554804934193349852946")
    alpha = mp.mpf("1.6732632423543772848170429916717")
    return scale * (x if x > 0 else alpha * (mp.exp(x) - 1))


def _shrink(x: Any, d: Any) -> Any:
    return mp.sign(x) * max(abs(x) - d, mp.mpf(0))


def _attenuated(x: Any, threshold: Any, width: Any, beta: Any) -> Any:
    """MemGLU, Appendix E, as printed."""
    silu = x * _sigma(x)
    if x <= threshold:
        return silu
    t = _clip((x - threshold) / width, 0, 1)
    m = t**2 * (3 - 2 * t)
    tail = threshold * _sigma(threshold) * mp.exp(-beta * _softplus(x - threshold))
    return (1 - m) * silu + m * tail


def _gate(x: Any) -> Any:
    """The surrogate of the two-sided gate, C = 4, D = 1/2."""
    return _sigma(4 * (abs(x) - mp.mpf(1) / 2))


_K = Known
_HALF = mp.mpf(1) / 2
_ASINH1 = "asinh(1)"
_CAP = "0 asinh(1)/sqrt(2)"  # sigmoid(asinh(1)) = (1 + tanh(asinh(1)/2))/2 = 1/sqrt(2)

#: A formula of the language -> what is known of it.
ZOO: dict[str, Known] = {
    k.text: k
    for k in (
        _K("relu(x)", lambda x: max(x, mp.mpf(0)), "", "0:0", "0 0", "1 0"),
        _K("relu6(x)", lambda x: _clip(x, 0, 6), "", "0:0 6:0", "0 0", "0 6"),
        _K("leaky_relu(x)", lambda x: x if x > 0 else x / 100, "", "0:0", "1/100 0", "1 0"),
        _K("leaky_relu(x, 2)", lambda x: x if x > 0 else 2 * x, "", "0:0", "2 0", "1 0"),
        _K("prelu(x)", lambda x: x if x > 0 else x / 4, "", "0:0", "1/4 0", "1 0"),
        _K("prelu(x, -1)", abs, "even", "0:0", "-1 0", "1 0"),
        _K("elu(x)", lambda x: x if x > 0 else mp.exp(x) - 1, "", "0:1", "0 -1", "1 0"),
        _K("elu(x, 1/2)", lambda x: x if x > 0 else (mp.exp(x) - 1) / 2, "", "0:0", "0 -1/2", "1 0"),
        _K(
            "selu(x)", _selu, "", "0:0",
            "0 -1.0507009873554804934193349852946*1.6732632423543772848170429916717",
            "1.0507009873554804934193349852946 0",
        ),
        _K("celu(x)", lambda x: x if x > 0 else mp.exp(x) - 1, "", "0:1", "0 -1", "1 0"),
        _K("celu(x, 2)", lambda x: x if x > 0 else 2 * (mp.exp(x / 2) - 1), "", "0:1", "0 -2", "1 0"),
        _K("silu(x)", lambda x: x * _sigma(x), "", "", "0 0", "1 0"),
        _K("swish(x)", lambda x: x * _sigma(x), "", "", "0 0", "1 0"),
        _K("swish(x, -2)", lambda x: x * _sigma(-2 * x), "", "", "1 0", "0 0"),
        _K("sigmoid(x)", _sigma, "", "", "0 0", "0 1"),
        _K("log_sigmoid(x)", lambda x: mp.log(_sigma(x)), "", "", "1 0", "0 0"),
        _K("tanh(x)", mp.tanh, "odd", "", "0 -1", "0 1"),
        _K("gelu(x)", lambda x: x * mp.ncdf(x), "", "", "0 0", "1 0"),
        _K(
            "gelu_tanh(x)",
            lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(44715) / 10**6 * x**3))),
            "", "", "0 0", "1 0",
        ),
        _K("quick_gelu(x)", lambda x: x * _sigma(mp.mpf(1702) / 1000 * x), "", "", "0 0", "1 0"),
        _K("softplus(x)", _softplus, "", "", "0 0", "1 0"),
        _K("softplus(x, 3)", lambda x: _softplus(3 * x) / 3, "", "", "0 0", "1 0"),
        _K("mish(x)", lambda x: x * mp.tanh(_softplus(x)), "", "", "0 0", "1 0"),
        _K("smish(x)", lambda x: x * mp.tanh(mp.log(1 + _sigma(x))), "", "", "0 0", "3/5 0"),
        _K("telu(x)", lambda x: x * mp.tanh(mp.exp(x)), "", "", "0 0", "1 0"),
        _K("squareplus(x)", lambda x: (x + mp.sqrt(x**2 + 4)) / 2, "", "", "0 0", "1 0"),
        _K("squareplus(x, 1)", lambda x: (x + mp.sqrt(x**2 + 1)) / 2, "", "", "0 0", "1 0"),
        _K("erf(x)", mp.erf, "odd", "", "0 -1", "0 1"),
        _K("sech(x)", mp.sech, "even", "", "0 0", "0 0"),
        _K("hardtanh(x)", lambda x: _clip(x, -1, 1), "odd", "-1:0 1:0", "0 -1", "0 1"),
        _K("hardsigmoid(x)", lambda x: _clip(x / 6 + _HALF, 0, 1), "", "-3:0 3:0", "0 0", "0 1"),
        _K("hardswish(x)", lambda x: x * _clip(x + 3, 0, 6) / 6, "", "-3:0 3:0", "0 0", "1 0"),
        _K("softsign(x)", lambda x: x / (1 + abs(x)), "odd", "0:1", "0 -1", "0 1"),
        _K("arctan(x)", mp.atan, "odd", "", "0 -pi/2", "0 pi/2"),
        _K("tanhshrink(x)", lambda x: x - mp.tanh(x), "odd", "", "1 1", "1 -1"),
        _K("soft_threshold(x)", lambda x: _shrink(x, _HALF), "odd", "-1/2:0 1/2:0", "1 1/2", "1 -1/2"),
        _K(
            "hardshrink(x)", lambda x: x if abs(x) > _HALF else mp.mpf(0),
            "odd", "-1/2:-1 1/2:-1", "1 0", "1 0",
        ),
        _K("sin(x)", mp.sin, "odd", "", PERIODIC, PERIODIC),
        _K("cos(x)", mp.cos, "even", "", PERIODIC, PERIODIC),
        _K("snake(x)", lambda x: x + mp.sin(x) ** 2, "", "", WAVES, WAVES),
        _K("snake(x, 3)", lambda x: x + mp.sin(3 * x) ** 2 / 3, "", "", WAVES, WAVES),
        _K("gaussian(x)", lambda x: mp.exp(-(x**2)), "even", "", "0 0", "0 0"),
        _K("asinh(x)", lambda x: mp.sign(x) * mp.log(abs(x) + mp.sqrt(x**2 + 1)), "odd", "", AWAY, AWAY),
        _K("isru(x)", lambda x: x / mp.sqrt(1 + x**2), "odd", "", "0 -1", "0 1"),
        _K("isru(x, 1/2)", lambda x: x / mp.sqrt(1 + x**2 / 2), "odd", "", "0 -sqrt(2)", "0 sqrt(2)"),
        _K("resech(x)", lambda x: x / mp.cosh(x), "odd", "", "0 0", "0 0"),
        _K("memglu(x)", lambda x: mp.sinh(x) / mp.cosh(x) ** 2, "odd", "", "0 0", "0 0"),
        _K(
            "silu_hard_removal(x)", lambda x: x * _sigma(x) if x <= mp.asinh(1) else mp.mpf(0),
            "", f"{_ASINH1}:-1", "0 0", "0 0",
        ),
        _K(
            "silu_positive_cap(x)", lambda x: min(x, mp.asinh(1)) * _sigma(min(x, mp.asinh(1))),
            "", f"{_ASINH1}:0", "0 0", _CAP,
        ),
        _K(
            "silu_smooth_attenuation(x)", lambda x: _attenuated(x, mp.asinh(1), _HALF, 1),
            "", f"{_ASINH1}:1 {_ASINH1}+1/2:1", "0 0", "0 0",
        ),
        _K(
            "silu_smooth_attenuation(x, 1, 2, 3)", lambda x: _attenuated(x, 1, 2, 3),
            "", "1:1 3:1", "0 0", "0 0",
        ),
        _K("two_sided_surrogate(x)", _gate, "even", "0:0", "0 1", "0 1"),
        _K("two_sided_surrogate_delta(x)", lambda x: -mp.sign(x) * _gate(x), "odd", "0:-1", "0 1", "0 -1"),
        _K(
            "two_sided_surrogate_delta_debiased(x)", lambda x: -mp.sign(x) * (_gate(x) - _gate(mp.mpf(0))),
            "odd", "0:1", "0 sigmoid(2)", "0 -sigmoid(2)",
        ),
        _K(
            "two_sided_potential(x)",
            lambda x: mp.sign(x) * (_softplus(4 * abs(x) - 2) - _softplus(mp.mpf(-2))) / 4,
            "odd", "0:1", "1 log(1+exp(2))/4", "1 -log(1+exp(2))/4",
        ),
        _K(
            "two_sided_potential_delta(x)", lambda x: mp.sign(x) * _softplus(4 * abs(x) - 2) / 4,
            "odd", "0:-1", "1 1/2", "1 -1/2",
        ),
    )
}  # fmt: skip
