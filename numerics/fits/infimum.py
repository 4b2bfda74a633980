"""Whether the best error of a setting is that of a gate, or only approached: by which limit, and what it is.

Three limits leave the gates. Thresholds of one sharpness merge while the lines between them grow like
1/distance (:mod:`...fits.infimum_merged`; with unequal tau pairs of them, :mod:`...fits.infimum_pair`). A
sharpness grows without end, towards a hard gate (:mod:`...fits.infimum_steep`). On an interval with free ends
all of them flatten, or thresholds leave, towards polynomials and exponentials.

Sources: existence fails for sums of exponentials in the same way (Braess, "Nonlinear Approximation Theory",
1986); free knots that merge in splines (de Boor, "A Practical Guide to Splines").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.driver import Found, in_order
from gateproof.numerics.fits.embedding import Contradiction
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.infimum_far import far_limit, half_line
from gateproof.numerics.fits.infimum_merged import Closed, closed_optimum, taken_apart
from gateproof.numerics.fits.infimum_pair import Paired, pair_taken_apart, paired_optimum
from gateproof.numerics.fits.infimum_steep import hardened, is_flat, is_steep, steep
from gateproof.numerics.fits.jumps import half_jump
from gateproof.numerics.fits.levelling import level
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.setting import Setting, problem

#: Bound on |slope| and |intercept|, in normal coordinates, of the gate handed out where the infimum is not
#: attained. Errors fall to the infimum like 1/bound**2: at 32 = 2**5 within 0.05 % of it for mish and elu at
#: K = 3, and of bfloat16's 8 significant bits at least 3 are left in a difference of lines.
BOUND = 32.0
#: Errors (of a function of size 1) that are none; errors that differ less, relatively, are equal.
NOTHING, EQUAL = 1e-11, 1e-7
#: Lines of this share of a bound are at it; a place nearer to 0, in widths, is 0.
NEAR, ZERO = 0.9, 1e-9
#: A bound that is wide, and the share by which errors fall where lines grow without end.
WIDE, FALLING = 1e6, 1e-4
JUMPS = "it is half the target's jump, below which no continuous gate comes; those of --sharpness hard jump"
#: Thresholds are outside of the domain from so many widths on.
OUTSIDE = 1.5


@dataclass(frozen=True)
class Infimum:
    """``found``: the gate to hand out; ``attained``: whether some gate has the error ``value``.

    ``value`` is the infimum in the target's units, as far as it was found; None where it is not known.
    ``attained`` is decided by search in floats (False: the best of the closed family is none of the gates);
    None where it is not decided. ``why`` is one line; '' where attained, but for jumps.
    """

    found: Found
    attained: bool | None
    value: float | None
    why: str = ""


def judge(normal: Normal, found: Found) -> Infimum:
    """Decide attainment in the sup norm for the best gate that a search found, and bound its lines if not."""
    setting, height = found.setting, normal.height
    if found.error <= NOTHING or found.gates.branches == 1 or setting.sharpness == "hard":
        return Infimum(found, True, found.error * height)
    if found.error <= half_jump(normal) * (1 + EQUAL):
        return Infimum(found, True, found.error * height, JUMPS)
    limit = _steep(normal, found) if is_steep(found) else None
    if limit is not None:
        return limit
    if _may_leave(normal, found):
        limit = _leaving(normal, found)
        if limit is not None:
            return limit
    if is_flat(found):
        return Infimum(found, None, None, "sharpness runs to 0, towards a polynomial of unknown error")
    if setting.max_coefficient is None and setting.algebra == "difference" and found.gates.branches > 2:
        return _merging(normal, found)
    if _runs_away(found):
        return _running(normal, found)
    return Infimum(found, True, found.error * height)


def _running(normal: Normal, found: Found) -> Infimum:
    """Lines at the bound of the search: whether they go on when it is wider."""
    wide = _levelled(normal, found, found.full, replace(found.setting, largest=WIDE))
    if found.setting.max_coefficient is not None or wide.error > found.error * (1 - FALLING):
        return Infimum(found, None, None, "slopes and intercepts reach the bound of the search")
    value = wide.error * normal.height
    why = f"slopes and intercepts grow without end as the error falls, at least to {value:.6g}"
    return Infimum(_bounded(normal, found, []), False, value, why)


def _may_leave(normal: Normal, found: Found) -> bool:
    """Whether this is a gate on an interval or half line, flat or with lines or thresholds far out."""
    setting, target = found.setting, normal.target
    if (target.lo is None and target.hi is None) or setting.max_coefficient is not None:
        return False
    half = half_line(target)
    if (setting.ends != "free" and not half) or setting.family != "general" or setting.monotone:
        return False
    x, theta = normal.grid(), found.gates.parts(found.full)[1]
    outside = np.maximum(x[0] - theta, theta - x[-1])
    return is_flat(found) or _largest(found) > BOUND or bool((outside > OUTSIDE).any())


def _leaving(normal: Normal, found: Found) -> Infimum | None:
    """The limit of flat gates and far thresholds where it is better."""
    value = far_limit(normal, found.setting.ends)
    if value > found.error * (1 - EQUAL):
        return None
    gone = "thresholds leave the half line"
    if not half_line(normal.target):
        gone = "sharpness runs to 0 or thresholds leave the interval"
    why = f"{gone} while lines grow without end: a + b*x + (c + d*x)*exp(t*x) is a limit of gates"
    return Infimum(_bounded(normal, found, []), False, value * normal.height, why)


def _steep(normal: Normal, found: Found) -> Infimum | None:
    """The limit of hard thresholds where it is better; None where it is not."""
    value = hardened(normal, found)
    if value is None:
        return Infimum(found, None, None, "sharpness runs to infinity; the error of the limit is not known")
    # Soft gates pass through a jump, however sharp they are.
    value = max(value, half_jump(normal))
    name = "--sharpness hard attains" if steep(found).all() else "a gate with these thresholds hard attains"
    if value > found.error * (1 - EQUAL):
        return None
    return Infimum(
        found,
        False,
        value * normal.height,
        f"sharpness runs to infinity: {name} what soft gates approach",
    )


def _merging(normal: Normal, found: Found) -> Infimum:
    setting, x = found.setting, normal.grid()
    if setting.monotone:
        return Infimum(found, None, None, "whether the best monotone gate exists is not decided")
    try:
        if setting.sharpness == "shared":
            closed = closed_optimum(normal, setting, x, [found.full], found.closed)
        else:
            closed = paired_optimum(normal, setting, x, [found.full])
    except Contradiction:
        return Infimum(found, None, None, "the limits of these gates are not known")
    known = max(closed.error, half_jump(normal)) * normal.height if closed.error > NOTHING else 0.0
    if not closed.merged:
        if found.error <= closed.error * (1 + EQUAL):
            return Infimum(found, True, found.error * normal.height)
        better = _levelled(normal, found, taken_apart(closed, 0.0), setting)
        if better.error <= closed.error * (1 + EQUAL):
            return Infimum(better, True, better.error * normal.height)
        return Infimum(
            min(found, better, key=lambda f: f.error), None, known, "its lines reach the bound of the search"
        )
    bounded = _bounded(normal, found, _within(closed, BOUND))
    if bounded.error <= closed.error * (1 + EQUAL) and _largest(bounded) < NEAR * BOUND:
        # Thresholds that stand together without need: nothing is gained with longer lines.
        return Infimum(bounded, True, bounded.error * normal.height)
    return Infimum(bounded, False, known, _words(normal, closed, bounded))


def _within(closed: Closed, bound: float) -> list[Array]:
    """Gates near the limit with lines of about that size."""
    found = []
    for share in (0.5, 1.0):
        low, high = 1e-4, 3.0
        for _ in range(12):
            half = (low * high) ** 0.5
            _, _, slope, intercept = closed.gates.parts(_apart(closed, half))
            most = max(np.abs(slope).max(), np.abs(intercept).max())
            low, high = (half, high) if most > share * bound else (low, half)
        found.append(_apart(closed, high))
    return found


def _apart(closed: Closed, half: float) -> Array:
    if isinstance(closed.gates, Paired):
        return pair_taken_apart(closed.gates, closed.full, half)
    return taken_apart(closed, half)


def _words(normal: Normal, closed: Closed, bounded: Found) -> str:
    theta, given = closed.gates.parts(closed.full)[1], bounded.gates.parts(bounded.full)[1]
    if isinstance(closed.gates, Paired):
        theta = np.append(theta[:-1], theta[-2])
    if normal.symmetry and _apart_by(-theta, given) < _apart_by(theta, given):
        # The mirror image is as good, and may be what is handed out.
        theta = -theta
    places = ", ".join(f"{len(g)} at {_place(normal, float(theta[g[0]]))}" for g in closed.merged)
    stick = "; stick gates attain it" if closed.setting.sharpness == "shared" else ""
    return f"thresholds merge ({places}) while the lines between them grow like 1/distance{stick}"


def _apart_by(a: Array, b: Array) -> float:
    return float(np.abs(np.sort(a) - np.sort(b)).max())


def _place(normal: Normal, u: float) -> str:
    x = normal.centre + normal.width * u
    return f"{0.0 if abs(x) < ZERO * normal.width else x:.6g}"


def _runs_away(found: Found) -> bool:
    return _largest(found) > 0.99 * found.setting.largest


def _largest(found: Found) -> float:
    _, _, slope, intercept = found.gates.parts(found.full)
    return float(max(np.abs(slope).max(), np.abs(intercept).max()))


def _bounded(normal: Normal, found: Found, seeds: list[Array]) -> Found:
    """The best gate under the bound, from the one found and from seeds."""
    largest = BOUND if found.setting.max_coefficient is None else found.setting.largest
    setting = replace(found.setting, largest=min(largest, found.setting.largest))
    tried = [_levelled(normal, found, full, setting) for full in (found.full, *seeds)]
    return min(tried, key=lambda f: f.error)


def _levelled(normal: Normal, found: Found, full: Array, setting: Setting) -> Found:
    sampled = problem(normal, setting, normal.grid())
    done = level(sampled, sampled.free(full), steps=200, reach=0.05, digits=10)
    return replace(
        found,
        setting=setting,
        full=in_order(sampled, done.q),
        error=done.error,
        programmes=found.programmes + done.programmes,
    )
