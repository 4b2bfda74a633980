"""Peaks of errors whose peaks are known: waves, level tails with rounding, ends of the domain."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gateproof
from gateproof.numerics.fits.certified_fit import peaks_of
from gateproof.numerics.fits.normal import normal as normal_of
from gateproof.numerics.fits.peaks import true_peaks
from gateproof.numerics.fits.target_data import of_columns
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import Const
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


@pytest.mark.parametrize(("count", "options"), [(40, {}), (60, {"k": 3, "sharpness": "hard"})])
def test_the_peaks_of_data_are_points_of_it(count: int, options: dict[str, Any]) -> None:
    # Steps of 1/10 from -2 or -3: in other units and back a point moves by a rounding.
    x = (np.arange(count) - count // 2) / 10
    y = np.round(np.maximum(x, 0.1 * x), 2) + 0.01 * (-1.0) ** np.arange(count)
    found = gateproof.fit((x, y), **options)
    off = {float(a): float(e) for a, e in zip(x, found.numpy(x) - y, strict=True)}
    assert found.peaks
    assert all(at in off and abs(off[at] - size) <= 1e-12 for at, size in found.peaks)
    assert abs(float(found.error.hi or 0) - max(map(abs, off.values()))) <= 1e-12


def test_a_point_at_a_hard_threshold_is_on_its_left() -> None:
    x = (np.arange(40) - 20) / 10
    found = normal_of(of_columns((x, np.sin(x))))
    moved = int(np.flatnonzero(found.centre + found.width * found.grid() > x)[0])
    zero, one, at = parse_expr("0"), parse_expr("1"), parse_expr(repr(float(x[moved])))
    step = np.where(x <= x[moved], 0.0, 1.0)
    assert (
        peaks_of(normal_of(of_columns((x, step))), Gate((Const("oo"),), (at,), (zero, zero), (zero, one)))
        == []
    )
