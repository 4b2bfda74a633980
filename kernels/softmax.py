"""Softmax as a threshold gate: p_i = sigmoid(z_i - LSE of the other logits), in PyTorch's own operations.

(Threshold gating, "Softmax".) The largest logit is split off: with m = max z at place a, e_j = exp(z_j - m)
and S = sum of e_j over j != a, p_a = 1/(1 + S) and p_j = e_j/(1 + S). For log-odds the second largest, z_b,
is split off too: with x_j = exp(z_j - z_b), U = sum of x_j over j != a, b, and T = e_b U,

    l_a = (m - z_b) - log1p(U),  l_b = (z_b - m) - log1p(T),  l_j = (z_j - m) - log1p(e_b + (T - e_j))

where e_j is no larger than e_b + (T - e_j): no sum loses its digits, and the terms of l_b and l_j have one
sign. l_a alone can come near 0 by itself. Differences of logits keep what their rounding loses (Knuth).

The gradient of softmax, p_i (dy_i - sum p_j dy_j), cancels completely once one logit dominates. Centred at a,
with d_j = dy_j - dy_a and c = sum of p_j d_j over j != a, it is p_i (d_i - c), and -p_a c at a.

Every function works over the last dimension, not empty. Rows that hold a NaN or +infinity are NaN. So are
rows of -infinity alone, unless ``safe``: then their probabilities are 0, their log-odds -infinity, their
gradients 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

_INFINITY = float("inf")


@dataclass(frozen=True)
class Split:
    """A row without its largest logit: where that is, which rows have none, m, e with 0 at a, S, and p."""

    top: Any
    empty: Any
    m: Any
    e: Any
    s: Any
    p: Any


def _largest(z: Any) -> tuple[Any, Any]:
    """The largest, and the one place that has it."""
    m, a = z.max(-1, keepdim=True)
    return m, torch.arange(z.shape[-1], device=z.device) == a


def _framed(m: Any, safe: bool) -> tuple[Any, Any]:
    """m where it is finite, and the rows without a logit that count as such."""
    empty = (m == -_INFINITY) & safe
    return torch.where(empty, 0.0, torch.where(m.abs() == _INFINITY, float("nan"), m)), empty


def _exact_difference(x: Any, y: Any) -> tuple[Any, Any]:
    """X - y, and what its rounding loses (Knuth); 0 where the difference is infinite."""
    d = x - y
    back = d - x
    lost = (x - (d - back)) - (y + back)
    return d, torch.where(d.abs() < _INFINITY, lost, 0.0)


def _weight(z: Any, m: Any) -> Any:
    """exp(z - m) as if z - m were exact: at a gap of 50 its rounding alone costs 32 units."""
    d, lost = _exact_difference(z, m)
    e = torch.exp(d)
    return e + e * lost


def split(z: Any, safe: bool = False) -> Split:
    """The parts of softmax."""
    m, top = _largest(z)
    m, empty = _framed(m, safe)
    e = torch.where(top, 0.0, _weight(z, m))
    s = e.sum(-1, keepdim=True)
    return Split(top, empty, m, e, s, torch.where(top & ~empty, 1.0, e) / (1.0 + s))


def probabilities(z: Any, safe: bool = False) -> Any:
    """Softmax."""
    return split(z, safe).p


def probabilities_gradient(dy: Any, z: Any, safe: bool = False) -> Any:
    """In the logits, given that in the probabilities; also how probabilities move with the logits.

    A logit of -infinity shuts off whatever stands at its place in dy.
    """
    return centred(dy, z, split(z, safe))


def centred(dy: Any, z: Any, parts: Split) -> Any:
    """``probabilities_gradient`` from the parts of softmax."""
    top, p = parts.top, parts.p
    shut = (z == -_INFINITY) & (p == 0)
    centre = torch.where(top & ~shut, dy, 0.0).sum(-1, keepdim=True)
    weighted = p * torch.where(top | shut, 0.0, dy - centre)
    return weighted - p * weighted.sum(-1, keepdim=True)


@dataclass(frozen=True)
class Pair:
    """A row without its two largest: their places, rows without any, m, z_b, e, U, x, the sums left, S."""

    top: Any
    next: Any
    empty: Any
    m: Any
    second: Any
    e: Any
    u: Any
    x: Any
    left: Any
    s: Any


def _pair(z: Any, safe: bool) -> Pair:
    m, top = _largest(z)
    m, empty = _framed(m, safe)
    others = torch.where(top, -_INFINITY, z)
    second, next_ = _largest(others)
    alone = second == -_INFINITY
    x = torch.where(next_ | alone, 0.0, _weight(others, torch.where(alone, 0.0, second)))
    u = x.sum(-1, keepdim=True)
    e, e_b = torch.where(top, 0.0, _weight(z, m)), _weight(second, m)
    t = e_b * u
    left = torch.where(next_, t, e_b + (t - e).clamp(min=0.0))
    return Pair(top, next_ & ~alone, empty, m, second, e, u, x, left, e_b + t)


def log_odds(z: Any, safe: bool = False) -> Any:
    """z_i minus the log-sum-exp of the other logits; +infinity where there is no other."""
    r = _pair(z, safe)
    gap, lost = _exact_difference(torch.where(r.top, r.m, z), torch.where(r.top, r.second, r.m))
    found = gap - (torch.log1p(torch.where(r.top, r.u, r.left)) - lost)
    return torch.where(r.empty, -_INFINITY, found)


def log_odds_gradient(dy: Any, z: Any, safe: bool = False) -> Any:
    """In the logits, given that in the log-odds.

    d l_i/d z_j = -p_j/(1 - p_i) for j != i. With w_i = dy_i/(1 - p_i) and W their sum over i != a:
    dz_j = dy_j - dy_a r_j - p_j (W - w_j) for j != a, where r is the softmax of the logits without a, and
    dz_a = dy_a - p_a W.
    """
    r = _pair(z, safe)
    others = torch.where(r.next, 1.0, r.x) / (1.0 + r.u)
    p = torch.where(r.top, 1.0, r.e) / (1.0 + r.s)
    centre = torch.where(r.top, dy, 0.0).sum(-1, keepdim=True)
    w = torch.where(r.top, 0.0, dy * ((1.0 + r.s) / (1.0 + r.left)))
    total = w.sum(-1, keepdim=True)
    found = torch.where(r.top, dy - p * total, dy - centre * others - p * (total - w))
    return torch.where(r.empty, 0.0, found)


def log_odds_moved(t: Any, z: Any, safe: bool = False) -> Any:
    """How log-odds move with the logits: with d_j = t_j - t_a, d_i - sum of p_j d_j/(1 - p_i) over j != a, i.

    At a itself: minus the mean of d over the softmax of the logits without a.
    """
    r = _pair(z, safe)
    d = torch.where(r.top, 0.0, t - torch.where(r.top, t, 0.0).sum(-1, keepdim=True))
    others = torch.where(r.next, 1.0, r.x) / (1.0 + r.u)
    weighted = r.e * d
    rest = (weighted.sum(-1, keepdim=True) - weighted) / (1.0 + r.left)
    found = torch.where(r.top, -(others * d).sum(-1, keepdim=True), d - rest)
    # Nothing else moves a logit that has no other.
    found = torch.where(r.top & (r.second == -_INFINITY), t, found)
    return torch.where(r.empty, 0.0, found)
