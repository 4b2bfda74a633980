"""What an initialisation is: sigma_w and sigma_b with where they come from, and weights filled by them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from gateproof.numerics.meanfield.initialise_depth import Scales
from gateproof.numerics.meanfield.outcome import Outcome, Point
from gateproof.numerics.meanfield.value import float_text

CRITICAL = "critical"
NEAREST_CRITICAL = "nearest-critical"
NEAREST_STABLE = "nearest-stable"
SCALE_INVARIANT = "scale-invariant"
NONE = "none"


class NoInitialisation(ValueError):
    """There are no weights to be filled in: nothing was found to offer."""


@dataclass(frozen=True)
class Initialisation:
    """Weights ~ N(0, sigma_w2/fan_in), biases ~ N(0, sigma_b2), and what they bring.

    ``kind`` is one of "critical", "nearest-critical", "nearest-stable", "scale-invariant", "none"; ``point``
    is the fixed point in balls, ``certified`` whether its enclosure is proved (what is nearest is found in
    floats). ``asked`` is what was searched for at the sigma_b2 asked for, ``reason`` says in words what was
    found and what is offered. ``eps_at_depth`` is 1 - c after ``depth`` layers from c = 0, None where no
    depth was asked for or the point is not critical. Numbers are None only where ``kind`` is "none".
    """

    activation: str
    kind: str
    sigma_w2: float | None
    sigma_b2: float | None
    point: Point | None
    scales: Scales | None
    reason: str
    asked: Outcome | None
    certified: bool
    depth: int | None = None
    apart: float | None = None
    eps_at_depth: float | None = None

    @property
    def sigma_w(self) -> float:
        """The deviation of weights times sqrt(fan_in). Raises NoInitialisation where there is none."""
        return sqrt(self._numbers()[0])

    @property
    def sigma_b(self) -> float:
        """The deviation of biases."""
        return sqrt(self._numbers()[1])

    @property
    def q_star(self) -> float | None:
        """The variance of pre-activations; None where every one is kept."""
        if self.point is None or self.kind == SCALE_INVARIANT:
            return None
        return float(self.point.q.mid())

    def _numbers(self) -> tuple[float, float]:
        if self.sigma_w2 is None or self.sigma_b2 is None:
            raise NoInitialisation(f"the activation {self.activation!r:.60}: {self.reason}")
        return self.sigma_w2, self.sigma_b2

    def torch_(self, module: Any, generator: Any = None) -> list[str]:
        """Fill weights and biases of the module's linear and convolution layers; the names of those filled.

        Raises as :func:`~.initialise_torch.fill`.
        """
        from gateproof.numerics.meanfield.initialise_torch import fill

        return fill(module, self.sigma_w, self.sigma_b, generator)

    def jax(self, in_axis: int = -2, out_axis: int = -1) -> tuple[Any, Any]:
        """Two initialisers (key, shape, dtype) -> array, as in jax.nn.initializers: of weights and of biases.

        A weight's fan-in is the length of ``in_axis`` times those of all axes but ``out_axis``.
        """
        from gateproof.numerics.meanfield.initialise_jax import initialisers

        return initialisers(self.sigma_w, self.sigma_b, in_axis, out_axis)

    def as_json(self) -> dict[str, Any]:
        """All of it for JSON; numbers are text, "oo" for infinity."""
        point, scales = self.point, self.scales
        named: dict[str, Any] = {
            "sigma_w2": self.sigma_w2,
            "sigma_b2": self.sigma_b2,
            "sigma_w": None if self.sigma_w2 is None else self.sigma_w,
            "sigma_b": None if self.sigma_b2 is None else self.sigma_b,
            "q_star": self.q_star,
            "chi_1": None if point is None else float(point.chi_1.mid()),
            "chi_parallel": None if point is None else float(point.chi_parallel.mid()),
            "xi_q": scales and scales.xi_q,
            "xi_c": scales and scales.xi_c,
            "xi_gradient": scales and scales.xi_gradient,
            "limit": scales and scales.limit,
            "apart": self.apart,
            "eps_at_depth": self.eps_at_depth,
        }
        return {
            "activation": self.activation,
            "kind": self.kind,
            **{name: float_text(value) for name, value in named.items()},
            "power": scales and scales.power,
            "depth": self.depth,
            "stable": None if point is None else point.stable,
            "certified": self.certified,
            "reason": self.reason,
        }
