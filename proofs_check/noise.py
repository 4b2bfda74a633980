"""``--noise``: quantiles of the error of sampled devices, and the share of them that keep a bound."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from gateproof.numerics.binomial import LEVEL, quantile_interval, share_interval
from gateproof.numerics.certify_nested import ranges_of
from gateproof.numerics.device_noise import noisy, sample, spread_of
from gateproof.numerics.points import enclosure
from gateproof.numerics.ranges import hull
from gateproof.numerics.tolerance import Tolerance, ToleranceError
from gateproof.theory.formula import expand
from gateproof.theory.formula.expand import expand_node
from gateproof.theory.formula.nodes import Expr, Extremum, Tg, num

#: The criterion, fixed before any device is drawn: so large a share keeps the bound, with confidence LEVEL.
KEPT = Fraction(95, 100)
CRITERION = f"at least {100 * KEPT} % of the devices keep the bound, with confidence {100 * LEVEL:g} %"
#: What each verdict says.
FINDINGS = {
    "supported": CRITERION,
    "unsupported": CRITERION.replace("at least", "fewer than"),
    "inconclusive": f"the sample does not tell whether at least {100 * KEPT} % of the devices keep the bound",
}
QUANTILES = (("median", Fraction(1, 2)), ("q95", Fraction(95, 100)), ("q99", Fraction(99, 100)))


def sampled(
    node: Extremum, held: tuple[str, Expr] | None, sizes: Mapping[str, Tolerance], samples: int, seed: int
) -> dict[str, Any]:
    """The block ``noise`` of the answer. Raises ToleranceError, NotImplementedOperator."""
    plain = expand_node(Extremum(node.op, num(0), node.scope))
    assert isinstance(plain, Extremum)
    ((name, within), *more) = ranges_of(plain)
    if more:
        raise ToleranceError("it is for a supremum over one name")
    ends = hull(within)
    if None in ends and "slope" in sizes and _outer_slope_varies(node, sizes["slope"]):
        raise ToleranceError(
            "off by anything the error is unbounded far out; give a finite domain, as in x in [-8, 8]",
            "slope",
        )
    sign = 1 if node.op == "sup" else -1
    found = sample(noisy(node.body, sizes), name, ends, samples, seed, sign)
    values = found.values
    mean, deviation = spread_of(values)
    block: dict[str, Any] = {
        "sizes": {key: str(size) for key, size in sizes.items()},
        "samples": samples,
        "seed": seed,
        "evidence": "sampling",
        "mean": _text(mean),
        "deviation": _text(deviation),
    }
    for key, q in QUANTILES:
        low, high = quantile_interval(samples, float(q))
        block[key] = {
            "value": _text(values[ceil(q * samples) - 1]),
            "lo": None if low is None else _text(values[low - 1]),
            "hi": None if high is None else _text(values[high - 1]),
        }
    block |= {"largest": _text(values[-1]), "least": _text(values[0])}
    block |= {"confidence": _text(LEVEL), "redrawn": found.redrawn, "crossed": found.crossed}
    return block if held is None else {**block, **_judged(values, held)}


def _judged(values: tuple[float, ...], held: tuple[str, Expr]) -> dict[str, Any]:
    """The share of devices beyond the bound, and the verdict by the criterion."""
    op, constant = held
    lo, hi = enclosure(expand(constant))
    bound = float((lo + hi) / 2)
    keeps = {"<": bound.__gt__, "<=": bound.__ge__, ">": bound.__lt__, ">=": bound.__le__}[op]
    count, total = sum(1 for v in values if not keeps(v)), len(values)
    low, high = share_interval(count, total)
    # One-sided, so at level 2 LEVEL - 1 for both sides.
    least, most = share_interval(count, total, 2 * LEVEL - 1)
    allowed = float(1 - KEPT)
    verdict = "supported" if most <= allowed else "unsupported" if least > allowed else "inconclusive"
    return {
        "beyond": {"count": count, "share": _text(count / total), "lo": _text(low), "hi": _text(high)},
        "criterion": CRITERION,
        "verdict": verdict,
        "finding": FINDINGS[verdict],
    }


def _outer_slope_varies(node: Extremum, size: Tolerance) -> bool:
    for tg in (n for n in node.body.walk() if isinstance(n, Tg)):
        for slope in (tg.slope[0], tg.slope[-1]):
            lo, hi = enclosure(expand(slope))
            if size.size > 0 and not (size.relative and lo == hi == 0):
                return True
    return False


def _text(value: float) -> str:
    return f"{value:.6g}"
