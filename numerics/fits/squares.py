"""Gates with the least mean square error under a distribution of inputs (``--norm rms``).

The mean is a quadrature on panels that resolve the target; once a gate is found they are graded towards its
thresholds as well, and it is settled again, so that what is minimised is the integral to about twelve digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.driver import Found, Watch, steps
from gateproof.numerics.fits.embedding import Contradiction
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.measure import Measure
from gateproof.numerics.fits.measure_rule import (
    cuts_of,
    must_converge,
    nodes,
    panels,
    rounding,
    weighted_integrand,
)
from gateproof.numerics.fits.moves import disturbed, drawn, inserted
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.setting import Setting, problem
from gateproof.numerics.fits.squares_descent import Squares, crowd, settle
from gateproof.numerics.fits.squares_within import constrained

#: Starts, those kept and settled, disturbed ones, rounds without a gain of such a share, rounds in all.
STARTS, KEPT, DISTURBED, IDLE, ENOUGH, ROUNDS = 64, 5, 32, 2, 1e-4, 6
#: Points that stand for many samples; gains that are rounding.
POINTS, GAIN = 4096, 1e-9


@dataclass(frozen=True)
class Rule:
    """Points u in normal coordinates with weights that sum to 1."""

    u: Array
    weight: Array

    def half(self) -> Rule:
        """Those with u >= 0, for errors that are even."""
        right = self.u >= 0
        weight = np.where(self.u[right] == 0, 0.5, 1.0) * self.weight[right]
        return Rule(self.u[right], weight / weight.sum())


def squares(
    found: Normal, setting: Setting, measure: Measure, *, seed: int = 0, watch: Watch | None = None
) -> Iterator[Found]:
    """The best gates of 1 (where the ends allow it) to ``setting.branches`` branches, as they are done.

    ``error`` is the root mean square in normal coordinates: times ``found.height`` it is the target's. Raises
    RefusedTarget where the target has no finite mean square. Deterministic for a seed. With inequalities
    (monotone gates, bounded coefficients) it starts from the gates of least largest error only.
    """
    coarse, fine = rules(found, measure)
    if setting.monotone or setting.max_coefficient is not None:
        yield from _within(found, setting, fine, seed, watch)
        return
    symmetric = bool(found.symmetry) and _is_even(measure, found)
    before: list[Found] = []
    for n in range(1, setting.branches + 1):
        best: Found | None = None
        for variant in _variants(setting.with_branches(n), symmetric=symmetric):
            one = _one(found, variant, measure, (coarse, fine), before, best, seed)
            if one is not None and (best is None or one.error < best.error * (1 - GAIN)):
                best = one
                if watch is not None:
                    watch(best)
        if best is not None:
            if before and before[0].error < best.error and setting.algebra != "softmax":
                best = _no_worse(best, before[0])
            before = [best, *before[:1]]
            yield best


def _within(found: Normal, setting: Setting, fine: Rule, seed: int, watch: Watch | None) -> Iterator[Found]:
    """Under inequalities: from the gates of least largest error, which satisfy them."""
    for one in steps(found, setting, seed=seed):
        here = replace(one.setting, symmetric=False)
        few = Squares(problem(found, here, fine.u), np.sqrt(fine.weight))
        q, error, taken = settle(few, few.problem.free(one.full))
        inequality = few.problem.inequality
        if inequality is not None and inequality(q)[0].min(initial=0.0) < 0:
            q, error = constrained(few, few.problem.free(one.full))
        best = Found(here, few.problem.gates, _ascending(few, q), error, taken)
        if watch is not None:
            watch(best)
        yield best


def _variants(here: Setting, *, symmetric: bool) -> list[Setting]:
    variants = [replace(here, symmetric=True), here] if symmetric else [here]
    if here.sharpness == "free" and here.branches > 2:
        variants = [replace(v, sharpness=s) for v in variants for s in ("shared", "free")]
    return variants


def _one(
    found: Normal,
    setting: Setting,
    measure: Measure,
    given: tuple[Rule, Rule],
    before: list[Found],
    best: Found | None,
    seed: int,
) -> Found | None:
    coarse, fine = (r.half() if setting.symmetric else r for r in given)
    try:
        few, many = (Squares(problem(found, setting, r.u), np.sqrt(r.weight)) for r in (coarse, fine))
    except Contradiction:
        return None
    rng = np.random.default_rng(seed)
    seeds = [] if best is None else [best.full]
    seeds += [full for one in before[:1] for full in _split(one, setting)]
    q = np.concatenate([
        np.reshape([few.problem.free(s) for s in seeds], (len(seeds), few.problem.basis.shape[1])),
        drawn(few.problem, STARTS, rng),
    ])  # fmt: skip
    top, error, done, idle = None, np.inf, 0, 0
    for _ in range(ROUNDS):
        gained = False
        for start in crowd(few, q, KEPT):
            settled, there, taken = settle(few, start)
            done += taken
            if there < error:
                gained |= there < error * (1 - ENOUGH)
                top, error = settled, there
        idle = 0 if gained else idle + 1
        if top is None or not few.problem.curved.any() or error < 1e-13 or idle == IDLE:
            break
        q = disturbed(few.problem, [top], DISTURBED, rng)
    if top is None:
        return None
    full, error, taken = _settled(found, setting, measure, many, top)
    return Found(setting, many.problem.gates, full, error, done + taken)


def _settled(
    found: Normal, setting: Setting, measure: Measure, many: Squares, q: Array
) -> tuple[Array, float, int]:
    """On the fine rule, then on rules graded towards the gate's own thresholds."""
    q, error, done = settle(many, q)
    if measure.x is not None:
        return _ascending(many, q), error, done
    new = error
    for _ in range(3):
        full = many.problem.full(q)
        rule = rules(found, measure, (many.problem.gates, full))[1]
        rule = rule.half() if setting.symmetric else rule
        many = Squares(problem(found, setting, rule.u), np.sqrt(rule.weight))
        q, new, taken = settle(many, q)
        done += taken
        if abs(new - error) <= 1e-12 * error:
            break
        error = new
    return _ascending(many, q), new, done


def _ascending(many: Squares, q: Array) -> Array:
    """All parameters, with thresholds ascending where that gives the same gate under the same conditions."""
    full = many.problem.full(q)
    found = many.problem.gates.ordered(full)
    again = many.problem.full(many.problem.free(found))
    return found if np.allclose(again, found, rtol=1e-12, atol=1e-12) else full


def _no_worse(best: Found, before: Found) -> Found:
    """The gate of one branch fewer, with a branch more on its right that changes nothing."""
    tau, theta, slope, intercept = before.gates.parts(before.full)
    at, sharp = (float(theta[-1]) + 1.0, float(np.log(tau[-1]))) if len(tau) else (0.0, 0.0)
    full = inserted(np.log(tau), theta, slope, intercept, at=at, log_sharp=sharp)
    return replace(best, setting=replace(best.setting, symmetric=False), full=full, error=before.error)


def _split(one: Found, setting: Setting) -> list[Array]:
    """Gates with one branch more: a threshold beside each of its own."""
    if one.setting.branches != setting.branches - 1:
        return []
    tau, theta, slope, intercept = one.gates.parts(one.full)
    sharp = float(np.log(tau).mean()) if len(tau) else 0.5
    wide = 1 / (np.exp(sharp) + 0.1)
    places = [*theta, *(theta + wide), *(theta - wide)] if len(theta) else [-1.0, 0.0, 1.0]
    return [
        inserted(np.log(tau), theta, slope, intercept, at=float(at), log_sharp=sharp + off)
        for at in places
        for off in (-0.35, 0.5)
    ]


def _is_even(measure: Measure, found: Normal) -> bool:
    """Whether the distribution is symmetric about the target's centre."""
    t, c = found.target, found.centre
    ends = [None if e is None else float(e) for e in (t.lo, t.hi)]
    domain = ends == [None, None] or (None not in ends and sum(e or 0.0 for e in ends) == 2 * c)
    return domain and (measure.kind == "uniform" or (measure.kind == "normal" and float(measure.mu) == c))


# --- the points ----------------------------------------------------------------


def rules(found: Normal, measure: Measure, gate: tuple[Gates, Array] | None = None) -> tuple[Rule, Rule]:
    """A coarse rule for searching, and one that resolves the target, and the gate if one is given."""
    if measure.x is not None and measure.weight is not None:
        u = (measure.x - found.centre) / found.width
        fine = Rule(u, measure.weight)
        few = _grouped(fine)
        return few, few if found.target.points is None else fine
    assert measure.density is not None
    target, places = found.target, []
    if gate is not None:
        tau, theta, *_ = gate[0].parts(gate[1])
        places = [(found.centre + found.width * h, found.width / t) for t, h in zip(tau, theta, strict=True)]
    cuts = cuts_of(measure, target, places, found.centre, found.width)
    near = found.centre + found.width * np.linspace(-6, 6, 33)
    cuts = np.union1d(cuts, near[(near > cuts[0]) & (near < cuts[-1])])
    values = _values(found, gate)
    integrand = weighted_integrand(measure, values, float(measure.density(cuts).max()), target.name)
    noise = rounding(measure, target, cuts) / found.height
    edges, sums = panels(integrand, cuts, noise=noise, name=target.name)
    must_converge(sums, edges, target, measure, target.name)
    made = []
    for order in (5, 16):
        x, w = nodes(edges, order)
        parts = np.abs(integrand(x) * w)
        share = (parts / np.maximum(parts.sum(axis=(1, 2), keepdims=True), 1e-300)).max(axis=0)
        keep = share > (1e-12 if order == 5 else 1e-18)
        weight = (measure.density(x) * w)[keep]
        made.append(Rule((x[keep] - found.centre) / found.width, weight / weight.sum()))
    return made[0], made[1]


def _values(found: Normal, gate: tuple[Gates, Array] | None) -> Callable[[Array], Array]:
    """The target less a smooth step between its lines, its square, and the gates."""
    sides = [found.line(s.m, s.b) for s in (found.target.left, found.target.right) if s is not None]
    left, right = (sides[0], sides[-1]) if sides else ((0.0, 0.0), (0.0, 0.0))

    def values(x: Array) -> Array:
        u = (x - found.centre) / found.width
        up = 0.5 + 0.5 * np.tanh(u)
        line = (1 - up) * (left[0] * u + left[1]) + up * (right[0] * u + right[1])
        rest = found.function(u) - line
        parts = np.stack([rest, rest**2])
        if gate is None:
            return parts
        weights = gate[0].weights(gate[1], u.ravel()).reshape(-1, *u.shape)
        return np.concatenate([parts, weights])

    return values


def _grouped(fine: Rule) -> Rule:
    """Few points in place of many samples: two for each group, with its mean and variance."""
    if len(fine.u) <= POINTS:
        return fine
    total = np.cumsum(fine.weight)
    group = np.minimum((total * POINTS / 2).astype(int), POINTS // 2 - 1)
    weight = np.bincount(group, fine.weight)
    used = weight > 0
    scale = np.where(used, weight, 1.0)
    mean = np.bincount(group, fine.weight * fine.u) / scale
    off = np.sqrt(np.bincount(group, fine.weight * (fine.u - mean[group]) ** 2) / scale)
    u = np.concatenate([(mean - off)[used], (mean + off)[used]])
    order = np.argsort(u)
    return Rule(u[order], np.tile(weight[used] / 2, 2)[order])
