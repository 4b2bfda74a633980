"""What a rescaling phi -> a phi(b x) does to kappa, to 1/kappa^2 and to the depth rate: numbers and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

from gateproof.numerics.meanfield.kappa_law import FIXED_BIAS, FIXED_Q, MATCHED, EdgeCurve, Exponent

#: The exponent that the depth law of the threshold-gating paper claims.
CLAIMED = -2.0


@dataclass(frozen=True)
class Rescaling:
    """One quantity of phi (``before``) and of a phi(b x) (``after``); None without a critical point."""

    quantity: str
    before: float | None
    after: float | None

    @property
    def factor(self) -> float | None:
        """after/before."""
        return None if self.before is None or self.after is None else self.after / self.before

    @property
    def invariant(self) -> bool | None:
        """Whether it did not change, to 9 digits."""
        return None if self.factor is None else isclose(self.factor, 1, rel_tol=1e-9)

    def words(self) -> str:
        """One sentence."""
        if self.before is None or self.after is None:
            return f"{self.quantity}: no critical point to compare."
        said = "unchanged" if self.invariant else f"times {self.factor:.6g}"
        return f"{self.quantity}: {self.before:.6g} -> {self.after:.6g} ({said})."


def rescaling(
    curve: EdgeCurve, kappa: float, a: float, b: float, *, q: float = 1.0, sigma_b2: float = 0.05
) -> tuple[Rescaling, ...]:
    """What a phi(b x) does against phi, a and b > 0: at the same q, at the same sigma_b2, at matched scale.

    At matched scale both networks are the same in other units (q = 1, sigma_w = 1 and sigma_b in proportion).
    """
    if not (a > 0 and b > 0):
        raise ValueError(f"a = {a}, b = {b}: numbers > 0 are expected")
    after = a * b**3 * kappa
    here, there = curve.at(q), curve.at(b * b * q)
    biased, rebiased = curve.chosen(sigma_b2), curve.chosen(b * b * sigma_b2)
    own = None if biased is None else biased.beta_q
    # The copy at sigma_b/b and q/b^2 is the same network: kappa q/sqrt(D) with D times (a b)^2.
    plain = None if biased is None else kappa * biased.q * biased.sigma_w2**0.5
    copied = None if biased is None else after * (biased.q / b**2) * (biased.sigma_w2 / (a * b) ** 2) ** 0.5
    return (
        Rescaling("kappa", kappa, after),
        Rescaling("1/kappa^2", 1 / kappa**2, 1 / after**2),
        Rescaling(f"beta_q at {FIXED_Q} = {q:g}", here.beta_q, there.beta_q),
        Rescaling(
            f"beta_q at {FIXED_BIAS}^2 = {sigma_b2:g}", own, None if rebiased is None else rebiased.beta_q
        ),
        Rescaling(f"beta_q at {MATCHED}", own, own),
        Rescaling(f"kappa q/sqrt(D) at {MATCHED}", plain, copied),
    )


def exponent_words(condition: str, family: str, found: Exponent | None, claimed: float = CLAIMED) -> str:
    """One sentence on a fitted exponent beside the claimed one."""
    if found is None:
        return f"{family}, {condition}: no exponent (too few critical points, or the same kappa in all)."
    held = "holds" if found.admits(claimed) else "does not hold"
    return (
        f"{family}, {condition}: beta_q ~ kappa^{found.value:.3f} "
        f"[{found.lo:.3f}, {found.hi:.3f}] ({found.level:.0%}, {found.count} members, "
        f"within a factor {found.spread:.3f}); the interval {held} {claimed:g}."
    )


def summary(rescalings: Sequence[Rescaling]) -> str:
    """Which of the quantities are invariant and which are not."""
    kept = [r.quantity for r in rescalings if r.invariant]
    lost = [r.quantity for r in rescalings if r.invariant is False]
    return f"Invariant: {', '.join(kept) or 'none'}. Not invariant: {', '.join(lost) or 'none'}."
