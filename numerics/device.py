"""The memristor's state equation integrated with proved enclosures, for any smooth drive.

    dw/dt = mobility * i(t),   v = (R0 + beta_w (w - w0)) i,   area' = v i'.

The right side does not depend on w, so a Taylor step is an integral of a series: over
[t, t+h] the drive is i = sum_{j<n} i_j h**j + I_n h**n with I_n from the whole step, and w and
the swept area follow term by term, products truncated at order n with their own tails enclosed.
Everything is a ball; a step count and an order fix the work.

Units (SI): t s, i A, v V, R0 Ohm, area W; the state has a unit [w], mobility [w]/(A s),
beta_w Ohm/[w].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from gateproof.numerics.ball import evaluate
from gateproof.numerics.points import exact_arb
from gateproof.numerics.precision import precision
from gateproof.numerics.series import taylor
from gateproof.theory.folding import exact
from gateproof.theory.formula import expand, parse_expr, substitute
from gateproof.theory.formula.nodes import Expr, Num

Value = Fraction | Expr


@dataclass(frozen=True)
class Device:
    """Constants of a first-order memristor, exact: Ohm, Ohm/[w], [w]/(A s), [w].

    ``r0`` is the resistance at ``w0``. Raises ValueError for a resistance that is not positive,
    TypeError for floats.
    """

    r0: Fraction
    beta_w: Fraction
    mobility: Fraction
    w0: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name in ("r0", "beta_w", "mobility", "w0"):
            object.__setattr__(self, name, exact(getattr(self, name)))
        if self.r0 <= 0:
            raise ValueError("the reference resistance is positive")


@dataclass(frozen=True)
class Sample:
    """Enclosures at one time: current, state, voltage, and the area swept since the start."""

    t: arb
    current: arb
    state: arb
    voltage: arb
    area: arb


def integrate(
    device: Device,
    drive: Expr,
    start: Fraction,
    times: Sequence[Value],
    *,
    steps: int = 32,
    order: int = 16,
    bits: int = 128,
    name: str = "t",
) -> tuple[Sample, ...]:
    """Samples at each of the times, from state ``start`` at the first one.

    ``drive`` is the current as an expression in ``name``, smooth from each time to the next (each of the
    intervals is cut into ``steps``). Times are fractions or closed expressions (multiples of pi),
    in ascending order. Raises NotSmooth, Undefined or MaybeUndefined where the drive is not
    smooth or has no value, ValueError for fewer than two times, times not seen to ascend, or
    counts below 1.
    """
    if len(times) < 2 or min(steps, order) < 1:
        raise ValueError("two times or more, one step and order 1 or more")
    core = expand(drive)
    with precision(bits):
        ends = [_ball(t, bits) for t in times]
        if not all(a < b for a, b in pairwise(ends)):
            raise ValueError("the times are not seen to ascend")
        w, area = exact_arb(exact(start)), arb(0)
        found = [_sample(device, core, name, ends[0], w, area, bits)]
        for a, b in pairwise(ends):
            for k in range(steps):
                left = a + (b - a) * k / steps
                right = a + (b - a) * (k + 1) / steps
                w, area = _step(device, core, name, (left, right), (w, area), order, bits)
            found.append(_sample(device, core, name, b, w, area, bits))
    return tuple(found)


def _ball(t: Value, bits: int) -> arb:
    return exact_arb(t) if isinstance(t, Fraction | int) else evaluate(expand(t), {}, bits)


def _resistance(device: Device, w: arb) -> arb:
    return exact_arb(device.r0) + exact_arb(device.beta_w) * (w - exact_arb(device.w0))


def _sample(device: Device, core: Expr, name: str, t: arb, w: arb, area: arb, bits: int) -> Sample:
    current = evaluate(core, {name: t}, bits)
    return Sample(t, current, w, _resistance(device, w) * current, area)


def _step(
    device: Device,
    core: Expr,
    name: str,
    span: tuple[arb, arb],
    at: tuple[arb, arb],
    order: int,
    bits: int,
) -> tuple[arb, arb]:
    """State and area after one step: n coefficients at its start, one over all of it.

    The start is a ball, wider than a point where it is irrational; coefficients there enclose
    those of every start in it, and h is taken for the same start, so that nothing is lost.
    """
    (left, right), (w, area) = span, at
    h = right - left
    whole = left.union(right)
    near = taylor(core, name, {name: left}, order, bits)
    over = taylor(core, name, {name: whole}, order + 1, bits)
    k, b = exact_arb(device.mobility), exact_arb(device.beta_w)

    def rates(i: list[arb], state: arb) -> tuple[list[arb], list[arb]]:
        """Series of w and of the area's rate, from the drive's: exact recurrences, order by order."""
        ws = [state] + [k * c / (j + 1) for j, c in enumerate(i[:-1])]
        resist = [b * c for c in ws]
        resist[0] = _resistance(device, state)
        slope = [c * (j + 1) for j, c in enumerate(i[1:])]
        n = len(slope)
        volts = _product(resist[:n], i[:n])
        return ws, _product(volts, slope)

    ws, swept = rates(near, w)
    # For the tails: coefficients over the whole step, with the state over the whole step.
    everywhere = w + k * over[0] * (right - left).union(arb(0))
    ws_over, swept_over = rates(over, everywhere)
    n = order
    w_next = _value([*ws[: n + 1], ws_over[n + 1]], h)
    gains = [c / (j + 1) for j, c in enumerate(swept[:n])] + [swept_over[n] / (n + 1)]
    return w_next, area + h * _value(gains, h)


def _product(a: Sequence[arb], b: Sequence[arb]) -> list[arb]:
    """The first len(a) coefficients of the product of two series of one length."""
    return [sum((a[i] * b[j - i] for i in range(j + 1)), arb(0)) for j in range(len(a))]


def _value(c: Sequence[arb], h: arb) -> arb:
    total = arb(0)
    for coefficient in reversed(c):
        total = total * h + coefficient
    return total


@dataclass(frozen=True)
class Loop:
    """A sinusoidally driven loop: areas of both lobes (W) and the state's change over a cycle."""

    right_lobe: arb
    left_lobe: arb
    drift: arb


def sine_loop(
    device: Device,
    amplitude: Fraction,
    om: Fraction,
    start: Fraction,
    *,
    steps: int = 32,
    order: int = 16,
    bits: int = 128,
) -> Loop:
    """The loop of i = amplitude * sin(om t) over one cycle, integrated, not from the closed form.

    A lobe's area is the integral of v di with its sign: positive where the loop is run through
    clockwise in the plane of current and voltage. Amplitude A, om rad/s, both positive.
    """
    if amplitude <= 0 or om <= 0:
        raise ValueError("amplitude and angular frequency are positive")
    values: Mapping[str, Expr] = {"A": Num(exact(amplitude)), "om": Num(exact(om))}
    drive = substitute(parse_expr("A*sin(om*t)"), values)
    half = substitute(parse_expr("pi/om"), values)
    full = substitute(parse_expr("2*pi/om"), values)
    times: list[Value] = [Fraction(0), half, full]
    samples = integrate(device, drive, start, times, steps=steps, order=order, bits=bits)
    with precision(bits):
        right = samples[1].area - samples[0].area
        left = samples[2].area - samples[1].area
        return Loop(right, left, samples[2].state - samples[0].state)


def closed_form(expr: Expr, device: Device, amplitude: Fraction, om: Fraction, bits: int = 128) -> arb:
    """A closed form of :mod:`gateproof.theory.memristor` in R0, b, k, A, om, w0 as a ball."""
    values: Mapping[str, Expr] = {
        "R0": Num(device.r0),
        "b": Num(device.beta_w),
        "k": Num(device.mobility),
        "w0": Num(device.w0),
        "A": Num(exact(amplitude)),
        "om": Num(exact(om)),
    }
    return evaluate(expand(substitute(expr, values)), {}, bits)
