"""Fits of one place's activation under the inputs that it has seen there.

Three ways, all with the target's asymptotes where they fit on the whole line:

- ``"rms"``, the default: least root mean square of the error under the histogram of inputs. To first order
  the mean square change of what follows is that times a constant, and the outer lines stay the asymptotes,
  so the largest error on all of R is finite; it is certified and stands in the row.
- ``"sup"``: least largest error on the range of inputs seen, certified there; outside of it nothing holds.
- ``"nelder-mead"``: the threshold-gating paper's ("Training strategy": per layer, Nelder-Mead on the RMS of
  pre-activations, from tau = 1.702), SciPy's. It searches where "rms" solves; its error is certified too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from gateproof.kernels.convert.fitted import fitted, solved, treatment
from gateproof.kernels.convert.forms import Treatment, plain, run
from gateproof.kernels.convert.given import certified
from gateproof.kernels.convert.kinds import Kind
from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.request import Request
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import num
from gateproof.theory.gate import Gate

WAYS = ("rms", "sup", "nelder-mead")
#: Bins for each doubling of |x| between 2^-10 and 2^8, and beyond; one bin around 0.
_FINE, _COARSE = 64, 4
#: Bins that a fit takes: neighbours are joined to about one mass.
BINS = 96
_CHUNK = 1 << 20


def _edges() -> np.ndarray[Any, Any]:
    near = 2.0 ** np.arange(-10, 8, 1 / _FINE)
    far = 2.0 ** np.arange(8, 127.9, 1 / _COARSE)
    out = np.concatenate([near, far])
    return np.concatenate([-out[::-1], out])


EDGES = _edges()


class Histogram:
    """How often inputs fell into each of 3264 fixed bins; memory does not grow with what is added.

    Bins are 1/64 of a doubling wide where activations bend, so a density is known to about 1 %. Sums do not
    depend on the order of what is added. Inputs that are not finite are counted apart.
    """

    def __init__(self) -> None:
        self.counts = np.zeros(len(EDGES) - 1, dtype=np.int64)
        self.lost = 0
        self.least, self.most = np.inf, -np.inf

    def add(self, x: torch.Tensor) -> None:
        """Count the elements of a tensor."""
        flat = x.detach().reshape(-1)
        edges = torch.as_tensor(EDGES, dtype=torch.float64, device=flat.device)
        for part in flat.split(_CHUNK):
            wide = part.to(torch.float64)
            inside = wide[wide.abs() < EDGES[-1]]
            self.lost += part.numel() - inside.numel()
            if not inside.numel():
                continue
            place = torch.bucketize(inside, edges, right=True) - 1
            self.counts += torch.bincount(place, minlength=len(self.counts)).cpu().numpy()
            self.least = min(self.least, float(inside.min()))
            self.most = max(self.most, float(inside.max()))

    @property
    def total(self) -> int:
        """How many inputs were counted."""
        return int(self.counts.sum())

    def bins(self, most: int = BINS) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Edges and counts of at most ``most`` bins of about one mass, within the range seen."""
        used = np.flatnonzero(self.counts)
        first, last = int(used[0]), int(used[-1])
        mass = np.concatenate([[0], np.cumsum(self.counts[first : last + 1])])
        steps = np.searchsorted(mass, np.linspace(0, mass[-1], most + 1))
        cuts = np.unique(np.concatenate([[0], steps, [len(mass) - 1]]))
        return EDGES[first : last + 2][cuts], np.diff(mass[cuts]).astype(np.float64)

    def points(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The middles of the bins in use, and their share."""
        used = np.flatnonzero(self.counts)
        return (EDGES[used] + EDGES[used + 1]) / 2, self.counts[used] / self.total


def rms_of(kind: Kind, form: Any, seen: Histogram) -> float:
    """The root mean square of gate less function under the histogram."""
    x, share = seen.points()
    y = run(form, torch.tensor(x)).numpy()
    return float(np.sqrt(np.sum(share * (y - _function(kind.formula)(x)) ** 2)))


@lru_cache(maxsize=256)
def _function(text: str) -> Callable[..., Any]:
    return formula(f"{text}(x)" if text.isidentifier() else text).numpy


def calibrated(kind: Kind, branches: int, seen: Histogram, way: str) -> Treatment:
    """The gate of a kind at a place with these inputs; the exact one where there is one."""
    own = fitted(kind, branches)
    if own.how in ("exact", "kept"):
        return own
    if not seen.total:
        return Treatment("kept", "no finite input was seen to calibrate it with", None, kind.formula)
    found = _WAYS[way](kind, branches, seen)
    if found.form is None:
        return found
    rms = rms_of(kind, found.form, seen)
    words = f"{found.words}; root mean square {rms:.3g} under {seen.total} inputs"
    return replace(found, words=words)


def _rms(kind: Kind, branches: int, seen: Histogram) -> Treatment:
    """Solved on joined bins, which may settle on a symmetric gate, and then on all bins from there."""
    from scipy.optimize import least_squares

    how = "least squares fit under the inputs seen,"
    found = solved(kind.formula, Request(branches, norm="rms", histogram=seen.bins()))
    if isinstance(found, str):
        return Treatment("kept", f"not fitted: {found}", None, kind.formula)
    first = treatment(kind, found, found.plain or found.error, how)
    if found.k < 2 or first.form is None:
        return first
    search = _Search(kind, found.gate, seen)
    best = least_squares(
        search.residuals, search.begin(float(formula(to_text(found.gate.tau[0])).numpy())), xtol=1e-12
    )
    if not np.isfinite(best.x).all():
        return first
    other = _given(kind, search.form(best.x), found.gate, how)
    if other.form is None or rms_of(kind, other.form, seen) >= rms_of(kind, first.form, seen):
        return first
    return other


class _Search:
    """Gates of one sharpness with a gate's outer lines: log tau, thresholds, inner slopes and intercepts."""

    def __init__(self, kind: Kind, gate: Gate, seen: Histogram) -> None:
        self.k = gate.branches
        self.theta, self.slope, self.intercept = plain(gate)
        x, self.share = seen.points()
        self.y, self.x = _function(kind.formula)(x), torch.tensor(x)

    def begin(self, tau: float) -> np.ndarray[Any, Any]:
        """The gate with another sharpness."""
        return np.concatenate([[np.log(tau)], self.theta, self.slope[1:-1], self.intercept[1:-1]])

    def form(self, p: np.ndarray[Any, Any]) -> Any:
        """The gate of these numbers."""
        k, s, c = self.k, list(self.slope), list(self.intercept)
        s[1:-1], c[1:-1] = p[k : 2 * k - 2].tolist(), p[2 * k - 2 :].tolist()
        return ("gate", float(np.exp(np.clip(p[0], -20, 20))), tuple(p[1:k].tolist()), tuple(s), tuple(c))

    def residuals(self, p: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Error times the root of the share, bin by bin."""
        if not np.isfinite(p).all():
            return np.full(len(self.y), 1e15)
        found: np.ndarray[Any, Any] = np.sqrt(self.share) * (run(self.form(p), self.x).numpy() - self.y)
        return found

    def loss(self, p: np.ndarray[Any, Any]) -> float:
        """The mean square."""
        return float(np.sum(self.residuals(p) ** 2))


def _sup(kind: Kind, branches: int, seen: Histogram) -> Treatment:
    lo, hi = (float(np.format_float_positional(v, 6, fractional=False)) for v in (seen.least, seen.most))
    width = (hi - lo) * 1e-3 + 1e-6
    domain = f"[{lo - width:.6g}, {hi + width:.6g}]"
    found = solved(kind.formula, Request(branches), domain)
    if isinstance(found, str):
        return Treatment("kept", f"not fitted: {found}", None, kind.formula)
    made = treatment(kind, found, found.error, f"minimax fit on the inputs seen, {domain},")
    # The outer lines are no asymptotes of the function: outside the range the error has no bound.
    return (
        made
        if made.form is None
        else replace(made, words=f"{made.words} on that range, not beyond", error_on=domain)
    )


def _nelder_mead(kind: Kind, branches: int, seen: Histogram) -> Treatment:
    """Over log tau, thresholds and the inner lines; the outer lines are the asymptotes."""
    from scipy.optimize import minimize

    start = solved(kind.formula, Request(branches))
    if isinstance(start, str):
        return Treatment("kept", f"not fitted: {start}", None, kind.formula)
    if start.gate.branches != branches or branches < 2:
        return Treatment("kept", f"Nelder-Mead: no gate of {branches} branches begins", None, kind.formula)
    search = _Search(kind, start.gate, seen)
    options = {"xatol": 1e-6, "fatol": 1e-14, "maxiter": 4000}
    best = minimize(search.loss, search.begin(1.702), method="Nelder-Mead", options=options)
    how = "Nelder-Mead on the root mean square under the inputs seen,"
    return _given(kind, search.form(best.x), start.gate, how)


def _given(kind: Kind, form: Any, like: Gate, how: str) -> Treatment:
    """A gate of given numbers, its largest error on R certified."""
    _, tau, theta, slope, intercept = form
    short = [Fraction(f"{v:.9g}") for v in (tau, *theta, *slope[1:-1], *intercept[1:-1])]
    k = len(slope)
    inner_s, inner_c = short[k : 2 * k - 2], short[2 * k - 2 :]
    gate = Gate(
        (num(short[0]),) * (k - 1),
        tuple(map(num, short[1:k])),
        (like.slope[0], *map(num, inner_s), like.slope[-1]),
        (like.intercept[0], *map(num, inner_c), like.intercept[-1]),
    )
    return certified(kind, gate, how)


_WAYS: dict[str, Callable[[Kind, int, Histogram], Treatment]] = {
    "rms": _rms,
    "sup": _sup,
    "nelder-mead": _nelder_mead,
}
