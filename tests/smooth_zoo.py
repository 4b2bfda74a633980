"""Every smooth activation of the zoo against trapezoid sums in mpmath: points, strips, and scaled errors."""

from __future__ import annotations

import mpmath as mp
import numpy as np
from known_zoo import ZOO
from normal_pairs import pair

from gateproof.numerics.meanfield.fast import fast_engine

#: Half of the strip around R in which each function without kinks is analytic.
_STRIPS = {
    "tanh": 1.5,
    "sech": 1.5,
    "memglu": 1.5,
    "resech": 1.5,
    "tanhshrink": 1.5,
    "telu": 1.4,
    "mish": 1.2,
}
#: Points of each one in the deep test.
DEEP = 20
SMOOTH = [text for text, known in ZOO.items() if not known.kinks]


def strip_of(text: str) -> float:
    """A little less than half of the strip around R in which it is analytic."""
    if text in ("softplus(x, 3)", "gelu_tanh(x)"):
        return 0.9
    return _STRIPS.get(text.partition("(")[0], 0.95)


def points(text: str, count: int) -> list[tuple[float, float]]:
    """Random (q, c): q log-uniform on [0.05, 20], and c = 0, 1, -1."""
    rng = np.random.default_rng([ord(k) for k in text])
    q = np.exp(rng.uniform(np.log(0.05), np.log(20), count))
    c = np.concatenate([[0.0, 1.0, -1.0], rng.uniform(-1, 1, count)])[-count:]
    return list(zip(q.tolist(), c.tolist(), strict=True))


def scaled_error(text: str, q: float, c: float) -> float:
    """Of E phi(u) phi(v), over E phi^2."""
    f, strip = ZOO[text].value, strip_of(text)
    found = fast_engine(text).correlation(q, c)
    right = pair(f, q, c, strip, 22)
    return float(abs(mp.mpf(float(found)) - right) / pair(f, q, 1, strip, 22))
