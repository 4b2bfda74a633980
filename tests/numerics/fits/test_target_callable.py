"""Python functions as targets: how they are called, what is seen of them, and what is refused in one line."""

from __future__ import annotations

import cmath
import math
from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from gateproof.numerics.fits.target import DOUBLE, SINGLE, RefusedTarget
from gateproof.numerics.fits.target_any import target_of


def gelu(x):
    return x * special.ndtr(x)


def gelu_of_one(x):
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


class Remembers:
    calls = 0

    def __call__(self, x):
        self.calls += 1
        return x + self.calls


@pytest.mark.parametrize(
    ("function", "left", "right", "kinks"),
    [
        (gelu, (0, 0), (1, 0), []),
        (gelu_of_one, (0, 0), (1, 0), []),
        (np.tanh, (0, -1), (0, 1), []),
        (math.tanh, (0, -1), (0, 1), []),
        (np.vectorize(math.tanh), (0, -1), (0, 1), []),
        (lambda x: mp.tanh(x), (0, -1), (0, 1), []),
        (lambda x: Decimal("0.5") * Decimal(x), (0.5, 0), (0.5, 0), []),
        (lambda x: max(x, 0), (0, 0), (1, 0), [0]),
        (lambda x: x > 0, (0, 0), (0, 1), [0]),
        (lambda x: 1.0 if x > 0.3 else 0.0, (0, 0), (0, 1), [0.3]),
        (lambda x: np.maximum(x - 0.37, 0) - 2 * np.maximum(x - 1.5, 0), (0, 0), (-1, 2.63), [0.37, 1.5]),
        (lambda x: 3.0, (0, 3), (0, 3), []),
        (lambda x: [0.1 * v for v in x], (0.1, 0), (0.1, 0), []),
        (lambda x: np.multiply(x, 2, out=x), (2, 0), (2, 0), []),
        (lambda x: x * np.tanh(np.log(1 + np.exp(x))), (0, 0), (1, 0), []),
        (lambda x: 1e6 * gelu(x / 1e6), (0, 0), (1, 0), []),
        (lambda x: 1e-6 * gelu(x * 1e6), (0, 0), (1, 0), []),
        (lambda x: np.tanh(x - 1e6), (0, -1), (0, 1), []),
        (lambda x: np.logaddexp(x, -x), (-1, 0), (1, 0), []),
    ],
)
def test_lines_and_kinks_are_seen(function, left, right, kinks):
    target = target_of(function)
    assert (target.domain, target.kind, target.expr) == ("R", "callable", None)
    assert (target.left.m, target.left.b) == pytest.approx(left, abs=1e-11)
    assert (target.right.m, target.right.b) == pytest.approx(right, abs=1e-11)
    assert [float(k) for k in target.kinks] == kinks
    assert "estimated from values" in target.notes[-1]
    assert target.resolution == DOUBLE


LEVEL, SLOPE = st.floats(-50, 50), st.floats(-3, 3)


@given(LEVEL, LEVEL, SLOPE, SLOPE, st.floats(0.1, 10), st.floats(-9, 9))
@settings(max_examples=15, deadline=None)
def test_lines_of_random_gates_are_found(b, c, m, n, tau, theta):
    def function(x):
        up = special.expit(tau * (x - theta))
        return special.expit(-tau * (x - theta)) * (m * x + b) + up * (n * x + c)

    target = target_of(function)
    right = np.array([m, b, n, c])
    found = np.array([target.left.m, target.left.b, target.right.m, target.right.b])
    assert found == pytest.approx(right, abs=1e-8 * max(1, abs(b - c)))


def test_float32_is_said():
    target = target_of(lambda x: gelu(x).astype(np.float32))
    assert target.resolution == SINGLE
    assert (target.left.m, target.right.m) == (0, 1)
    assert "float32" in target.notes[0]
    hidden = target_of(lambda x: float(np.sin(np.float32(x))), (-2, 2))
    assert 1e-8 < hidden.resolution < 1e-6
    assert "off by" in hidden.notes[0]
    assert hidden.kinks == ()


def test_the_shape_of_what_is_asked_is_kept():
    target = target_of(gelu_of_one)
    assert target.function(np.zeros((2, 3))).shape == (2, 3)
    assert target.function(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize(
    ("function", "domain", "line"),
    [
        (np.sin, None, "for x -> -oo are on no line"),
        (np.arcsinh, None, 'give an interval, as --domain "[-8, 8]"'),
        (np.log1p, (0, None), "cannot be fitted on a half line"),
        (lambda x: x % 1.0, None, "on no line"),
        (np.floor, None, "on no line"),
        (lambda x: x * x, None, "on no line"),
        (np.exp, None, "is inf at x = "),
        (np.sqrt, None, "is nan at x = -1e-08: it has values from about 0 to 1e+06"),
        (lambda x: np.exp(x) / (1 + np.exp(x)), None, "is nan at x = 737"),
        (math.sqrt, (-1, 8), "at x = -1 it raised ValueError"),
        (lambda x: 1 / x, (-1, 1), "is inf at x = 0"),
        (lambda x: 1 / float(x), (-1, 1), "at x = 0 it raised ZeroDivisionError"),
        (lambda x: x + np.random.default_rng().normal(size=x.shape), None, "it is random or remembers"),
        (Remembers(), None, "it is random or remembers"),
        (lambda x: np.exp(x) / np.exp(x).sum(), (-3, 3), "depends on the other numbers"),
        (lambda x: x - np.mean(x), (-3, 3), "depends on the other numbers"),
        (lambda x: np.cumsum(x), (-3, 3), "depends on the other numbers"),
        (lambda x: x + 1j, None, "complex"),
        (cmath.sqrt, None, "complex"),
        (lambda x: x**0.5, (-1, 1), "is nan at x = -0.001"),
        (lambda x: float(x) ** 0.5, (-1, 1), "complex"),
        (math.factorial, (-3, 3), "whole numbers only"),
        (lambda x: None, (-3, 3), "returns None"),
        (lambda x: "1", (-3, 3), "returns '1'"),
        (lambda x: np.stack([x, x]), None, "returns an array of shape (2,)"),
        (lambda x: (x, x), None, "no function of one real number"),
        (lambda x, y: x, None, "missing 1 required positional argument"),
        (lambda: 3, None, "no function of one real number"),
    ],
)
def test_one_line_says_what_is_wrong(function, domain, line):
    with pytest.raises(RefusedTarget) as caught:
        target_of(function, domain)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_exception_is_one_line():
    def function(x):
        raise RuntimeError("first\nsecond")

    with pytest.raises(RefusedTarget, match="raised RuntimeError: first second"):
        target_of(function, (0, 1))


def test_an_interrupt_is_no_refusal():
    def function(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        target_of(function, (0, 1))


def test_a_window_without_a_threshold_is_said():
    assert "the constant -1 to 1.4e-12" in target_of(lambda x: np.tanh(x - 20), (-6, 6)).notes[0]


def test_code_is_run_when_allowed_only(tmp_path, monkeypatch):
    (tmp_path / "my_activations.py").write_text(
        "import math\nprint('ran')\nclass Half:\n    def __call__(self, x):\n        return x/2\n"
        "def soft(x):\n    return math.tanh(x)\nvalue = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedTarget, match="only with --allow-code"):
        target_of("my_activations:soft")
    target = target_of("my_activations:soft", allow_code=True)
    assert target.name == "my_activations:soft"
    assert (target.left.b, target.right.b) == (-1, 1)
    assert target_of("my_activations:Half", allow_code=True).right.m == 0.5
    for place, line in (
        ("my_activations:missing", "has no missing"),
        ("my_activations:value", "is of type int"),
        ("no_such_module_here:f", "cannot be imported: ModuleNotFoundError"),
    ):
        with pytest.raises(RefusedTarget, match=line):
            target_of(place, allow_code=True)


def test_a_class_is_no_function():
    with pytest.raises(RefusedTarget, match=r"give an object of it, as Remembers\(\)"):
        target_of(Remembers)
