"""Real random networks beside the maps: variances and correlations over depth, with bands over seeds.

Layer 0 is a network's first layer: given the inputs its pre-activations are exactly normal and independent
over neurons, with the variance q_0 and correlation c_0 that inputs and sigmas make, and so they are drawn.
Every later layer multiplies by a matrix of its own. At layer 1 the means over networks of q and of the
covariance are exactly those of the maps; later ones are off by O(1/width), and single networks by
O(width^(-1/2)), more with each layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.depth_layers import LARGEST, SMALLEST
from gateproof.numerics.meanfield.engines import float_engine

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class FiniteWidth:
    """What ``seeds`` networks had, and what the maps say; arrays over layers 0 to depth.

    ``q``, ``covariance`` and ``eps`` (1 - c) have shape (seeds, depth + 1); ``q`` is the mean over both
    inputs. ``map_q``, ``map_covariance`` and ``map_eps`` are of infinite width, shape (depth + 1,).
    """

    activation: str
    sigma_w2: float
    sigma_b2: float
    width: int
    seed: int
    q: Any
    covariance: Any
    eps: Any
    map_q: Any
    map_covariance: Any
    map_eps: Any

    @property
    def depth(self) -> int:
        """Layers after layer 0."""
        return len(self.map_q) - 1

    @property
    def seeds(self) -> int:
        """Networks."""
        return len(self.q)

    def mean(self, name: str) -> tuple[Any, Any]:
        """The mean over networks of "q", "covariance" or "eps", and its standard error, layer by layer."""
        import numpy as np

        values = getattr(self, name)
        return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))

    def band(self, name: str, part: float = 0.9) -> tuple[Any, Any]:
        """Between which values the middle ``part`` of the networks lie."""
        import numpy as np

        lo, hi = np.quantile(getattr(self, name), [(1 - part) / 2, (1 + part) / 2], axis=0)
        return lo, hi

    def as_json(self, part: float = 0.9) -> dict[str, Any]:
        """Means, standard errors, bands and maps for JSON; numbers are text."""
        found: dict[str, Any] = {
            "activation": self.activation,
            "sigma_w2": repr(float(self.sigma_w2)),
            "sigma_b2": repr(float(self.sigma_b2)),
            "width": self.width,
            "depth": self.depth,
            "seeds": self.seeds,
            "seed": self.seed,
            "band": repr(part),
        }
        for name in ("q", "covariance", "eps"):
            mean, error = self.mean(name)
            lo, hi = self.band(name, part)
            columns = {"map": getattr(self, f"map_{name}"), "mean": mean, "error": error, "lo": lo, "hi": hi}
            found[name] = {key: [repr(float(x)) for x in column] for key, column in columns.items()}
        return found

    def plot(self, path: str | Path | None = None) -> Any:
        """The figure, written to a file (.svg, .png, .pdf) where a path is given, whole or not at all."""
        from gateproof.numerics.meanfield.finite_width_picture import picture

        return picture(self, None if path is None else Path(path))


def finite_width(
    target: Target | Phi,
    sigma_w2: float,
    sigma_b2: float,
    *,
    q: float = 1.0,
    eps: float = 0.5,
    width: int = 256,
    depth: int = 30,
    seeds: int = 64,
    seed: int = 0,
    single: bool = False,
    progress: Progress | None = None,
) -> FiniteWidth:
    """Networks of this width and depth from q_0 = q and 1 - c_0 = eps, and the maps.

    ``seed`` gives all random numbers; networks are the same whatever ``progress``, which hears (networks
    finished, networks in all). float64, or float32 with ``single``. Raises ModuleNotFoundError with what to
    install where JAX is missing, ValueError for numbers out of range, ArithmeticError where the variance of
    the maps goes to 0 or infinity on the way.
    """
    import numpy as np

    _checked(sigma_w2, sigma_b2, q, eps, width, depth, seeds)
    phi = target if isinstance(target, Phi) else activation(target)
    try:
        from gateproof.numerics.meanfield.fast_networks import simulate
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("jax"):
            raise
        raise ModuleNotFoundError(
            "networks are run by JAX, which is not installed: pip install jax", name="jax"
        ) from error
    map_q, map_eps = maps(phi, sigma_w2, sigma_b2, q, eps, depth)
    seen = simulate(phi, width, depth, seeds, seed, (sigma_w2, sigma_b2, q, eps), single, progress)
    first, second, covariance, lack = np.moveaxis(seen, 2, 0)
    return FiniteWidth(
        phi.text, float(sigma_w2), float(sigma_b2), width, seed, (first + second) / 2, covariance, lack,
        map_q, map_q * (1 - map_eps), map_eps,
    )  # fmt: skip


def maps(phi: Phi, sigma_w2: float, sigma_b2: float, q: float, eps: float, depth: int) -> tuple[Any, Any]:
    """q_l and 1 - c_l for l = 0 to depth, by the maps of infinite width."""
    import numpy as np

    engine = float_engine(phi).plain
    variances, lacks = [q], [eps]
    for layer in range(depth):
        following = sigma_w2 * float(engine.variance(q)) + sigma_b2
        if not SMALLEST < following < LARGEST:
            raise ArithmeticError(f"the variance is {following:.3g} after {layer + 1} layers")
        eps = 0.0 if eps == 0 else min(sigma_w2 * float(engine.gap(q, eps)) / following, 2.0)
        q = following
        variances.append(q)
        lacks.append(eps)
    return np.array(variances), np.array(lacks)


def _checked(
    sigma_w2: float, sigma_b2: float, q: float, eps: float, width: int, depth: int, seeds: int
) -> None:
    if not (0 < sigma_w2 < inf and 0 <= sigma_b2 < inf):
        raise ValueError("sigma_w^2 > 0 and sigma_b^2 >= 0 are variances")
    if not (0 < q < inf and 0 <= eps <= 2):
        raise ValueError("q > 0 and eps = 1 - c in [0, 2] are expected")
    if min(width, depth) < 1 or seeds < 2:
        raise ValueError("a width and a depth of at least 1 and 2 seeds are expected")
    if width > 16_384:
        raise ValueError(f"width = {width}: at most 16384 is taken")
