"""Peaks of errors whose peaks are known: waves, level tails with rounding, ends of the domain."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

import gateproof
from gateproof.numerics.fits.peaks import true_peaks
from gateproof.theory.formula import parse_expr
from gateproof.theory.gate import Gate

ZERO = Gate((), (), (parse_expr("0"),), (parse_expr("0"),))


def normal(error: Any, lo: float | None = None, hi: float | None = None, **more: Any) -> Any:
    """Normal coordinates of a target of which the gate 0 is off by the error."""
    grid = np.linspace(-40 if lo is None else lo, 40 if hi is None else hi, 4001)
    target = SimpleNamespace(
        points=None, weight=None, lo=lo, hi=hi, resolution=2.0**-52, function=lambda x: -error(x)
    )
    return SimpleNamespace(**{"centre": 0.0, "width": 1.0, "grid": lambda: grid, "target": target, **more})


def listed(error: Any, places: list[float], lo: float | None = None, hi: float | None = None) -> list[float]:
    at = np.array(places)
    peaks = [(float(x), float(e)) for x, e in zip(at, error(at), strict=True)]
    return [x for x, _ in true_peaks(normal(error, lo, hi), ZERO, peaks)]


def test_the_peaks_of_a_wave_are_kept_and_its_slopes_are_not() -> None:
    assert listed(np.cos, [-np.pi, 0.0, np.pi]) == [-np.pi, 0.0, np.pi]
    assert listed(np.cos, [-np.pi, -0.4, 0.0, 0.3, np.pi]) == [-np.pi, 0.0, np.pi]


def test_a_level_tail_is_no_peak() -> None:
    noise = np.random.default_rng(0)

    def error(x: Any) -> Any:
        return np.tanh(x) ** 2 + 1e-15 * noise.standard_normal(np.shape(x))

    assert listed(error, [-35.0, -30.5, -21.0, 22.0, 33.0]) == []
    assert listed(lambda x: 1 - 2 / np.cosh(x), [-30.0, 0.0, 20.0]) == [0.0]


def test_a_level_stretch_between_falls_is_one_peak() -> None:
    def table(x: Any) -> Any:
        return np.where(np.abs(x) < 3, 1.0, np.exp(-((np.abs(x) - 3) ** 2)))

    assert len(listed(table, [-2.0, -1.0, 0.5, 2.5])) == 1
    assert len(listed(lambda x: np.cos(x) ** 2 - 0.5, [0.0, np.pi / 2, np.pi], -1.0, 4.0)) == 3


def test_the_ends_of_an_interval_are_peaks() -> None:
    assert listed(lambda x: x, [-1.0, 1.0], -1.0, 1.0) == [-1.0, 1.0]
    assert listed(lambda x: 0 * x + 1.0, [0.3], -1.0, 1.0) == [0.3]
    assert listed(lambda x: np.arctan(x), [-40.0, 40.0]) == []
    assert listed(lambda x: np.arctan(x), [0.0, 39.0], 0.0, None) == []


def test_with_free_intercepts_the_tails_are_not_listed() -> None:
    found = gateproof.fit("gelu", 3, ends="slopes")
    assert len(found.peaks) == 7
    assert all(abs(x) < 4 for x, _ in found.peaks)
    assert all((a > 0) != (b > 0) for (_, a), (_, b) in pairwise(found.peaks))


def test_of_data_each_stretch_of_one_sign_has_one_peak() -> None:
    x = np.arange(8.0)
    error = np.array([1.0, 2.0, 1.5, -1.0, 1.9, -2.0, -1.8, 0.1])
    target = SimpleNamespace(points=SimpleNamespace(x=x, y=-error))
    peaks = [(float(a), float(e)) for a, e in zip(x, error, strict=True) if abs(e) >= 1]
    found = true_peaks(SimpleNamespace(target=target), ZERO, peaks)  # type: ignore[arg-type]
    assert found == [(1.0, 2.0), (3.0, -1.0), (4.0, 1.9), (5.0, -2.0)]
