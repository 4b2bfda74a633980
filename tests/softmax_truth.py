"""Softmax, its log-odds and both gradients of one row of exact numbers, by mpmath, beside the sizes of terms.

Gaps of 200 cost 87 digits in a difference such as S - e_i; all is computed with 250.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import torch

DIGITS = 250


class Row:
    """A row of finite logits, at least two."""

    def __init__(self, z):
        self.z = [mp.mpf(float(v)) for v in z]
        with mp.workdps(DIGITS):
            top = max(self.z)
            self.weights = [mp.exp(v - top) for v in self.z]
            self.total = mp.fsum(self.weights)
            self.top = top

    def probability(self, i):
        with mp.workdps(DIGITS):
            return self.weights[i] / self.total

    def log_odds(self, i):
        """The value, and the size of its terms: those of the top logit alone have opposite signs."""
        with mp.workdps(DIGITS):
            lse = self.top + mp.log(self.total - self.weights[i])
            value = self.z[i] - lse
            second = max(v for j, v in enumerate(self.z) if j != i)
            return value, abs(self.z[i] - second) + abs(lse - second)

    def gradient(self, dy, i):
        """Of softmax: p_i sum_j p_j (dy_i - dy_j), and the same with absolute terms."""
        with mp.workdps(DIGITS):
            d = [mp.mpf(float(v)) for v in dy]
            p = [w / self.total for w in self.weights]
            terms = [q * (d[i] - e) for q, e in zip(p, d, strict=True)]
            return p[i] * mp.fsum(terms), p[i] * mp.fsum(abs(t) for t in terms)

    def log_odds_gradient(self, dy, i):
        """dy_i minus the sum of dy_j p_i/(1 - p_j) over j != i, and the same with absolute terms."""
        with mp.workdps(DIGITS):
            d = [mp.mpf(float(v)) for v in dy]
            terms = [
                -e * self.weights[i] / (self.total - w)
                for j, (e, w) in enumerate(zip(d, self.weights, strict=True))
                if j != i
            ]
            return d[i] + mp.fsum(terms), abs(d[i]) + mp.fsum(abs(t) for t in terms)


GAPS = (0.0, 1e-3, 0.5, 1.0, 3.0, 10.0, 20.0, 50.0, 88.0, 100.0, 150.0, 200.0)
#: Below the normal range results are judged absolutely.
TINY = 2.0**-126


def rows_with_gaps(n, gaps=GAPS):
    """Rows of n logits in float32 whose largest stands off by a gap, tied or spread out, with a dy each."""
    random = np.random.default_rng(n)
    for gap in gaps:
        z = random.normal(size=n) * random.choice([0.01, 1.0, 5.0])
        z[random.integers(n)] = z.max() + gap
        if n >= 5 and random.random() < 0.5:
            z[random.integers(n)] = z.max()
        yield torch.tensor(z, dtype=torch.float32), torch.tensor(random.normal(size=n), dtype=torch.float32)


def worst(found, places=5):
    """The largest errors of {"p", "dp", "l", "dl"}: p in last places, others in sizes of terms."""
    errors = dict.fromkeys(("p", "dp", "l", "dl"), 0.0)
    for z, dy, made in found:
        row, n = Row(z), len(z)
        at = {
            *z.topk(min(n, 3)).indices.tolist(),
            *np.random.default_rng(n).integers(n, size=places).tolist(),
        }
        for i in at:
            right = row.probability(i)
            unit = max(float(np.spacing(np.float32(float(right)))), 2.0**-149)
            here = {"p": abs(made["p"][i].item() - right) / unit}
            for name, (value, size) in (
                ("dp", row.gradient(dy, i)),
                ("l", row.log_odds(i)),
                ("dl", row.log_odds_gradient(dy, i)),
            ):
                lost = max(0, abs(mp.mpf(made[name][i].item()) - value) - TINY)
                here[name] = lost / size if size else (0.0 if lost == 0 else np.inf)
            errors = {k: max(e, float(here[k])) for k, e in errors.items()}
    return errors
