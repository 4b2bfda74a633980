"""``MeanField``: one activation, and all that mean field theory says of wide networks of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from gateproof.numerics.meanfield import given
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.certified import CertifiedEngine
from gateproof.numerics.meanfield.choices import (
    checked_digits,
    gap_of,
    like,
    one_of,
    searched_range,
    towards,
)
from gateproof.numerics.meanfield.depth_law import EdgeLaw, edge_law
from gateproof.numerics.meanfield.depth_layers import Layer, trajectory, variances
from gateproof.numerics.meanfield.depth_limits import depth_limit, with_depth_limits
from gateproof.numerics.meanfield.described import FieldPoint
from gateproof.numerics.meanfield.engines import float_engine
from gateproof.numerics.meanfield.given import Given, RefusedNumber
from gateproof.numerics.meanfield.mp import MpEngine
from gateproof.numerics.meanfield.reports import Reports
from gateproof.numerics.meanfield.result import FieldPoints, about
from gateproof.numerics.meanfield.scan import Setting
from gateproof.numerics.meanfield.searches import Certified, Scanned

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.fast import FastEngine

DIGITS, FAST_DIGITS = 15, 12
#: Digits of the engine that works out layers.
LAYER_DIGITS = 20


@dataclass(frozen=True, repr=False)
class MeanField(Reports):
    """Mean field theory of wide networks with one activation; frozen, as all it hands out.

    Variances sigma_w2 (of weights, times the fan-in), sigma_b2 (of biases) and q (of preactivations), and
    correlations c, are dimensionless; numbers are given as decimals or fractions, exactly, or as floats.
    ``engine`` is what searches are made with: "certified" (balls), "mp" or "fast" (a scan; nothing is
    proved); :attr:`fast`, :meth:`mp` and :meth:`certified` give the engines themselves.
    """

    phi: Phi
    digits: int = DIGITS
    engine: str = "certified"

    def __post_init__(self) -> None:
        checked_digits(self.digits, self.engine)

    def __repr__(self) -> str:
        return f"<mean field of {self.phi.text}>"

    # --- searches --------------------------------------------------------------

    def edge_of_chaos(self, sigma_b2: Given, *, digits: int | None = None, within: Any = None) -> FieldPoints:
        """All (sigma_w2, q*) with chi_1 = 1 at sigma_b2 >= 0, or why there are none.

        ``within`` is a range of q, as (0, 100); all q where it is left out. Raises RefusedNumber, and
        RefusedActivation where phi jumps.
        """
        s = given.bias_variance(sigma_b2)
        return self._searches(digits).edge(s, searched_range(within))

    def edge_curve(
        self, sigma_b2: Iterable[Given], *, digits: int | None = None, within: Any = None
    ) -> tuple[FieldPoints, ...]:
        """The edge of chaos at several sigma_b2."""
        searches, where = self._searches(digits), searched_range(within)
        return tuple(searches.edge(given.bias_variance(s), where) for s in sigma_b2)

    def fixed_points(
        self, sigma_w2: Given, sigma_b2: Given, *, digits: int | None = None, within: Any = None
    ) -> FieldPoints:
        """All fixed points of q -> sigma_w2 V(q) + sigma_b2, with stability and depth scales."""
        w, s = given.weight_variance(sigma_w2), given.bias_variance(sigma_b2)
        return self._searches(digits).fixed(w, s, searched_range(within))

    def folds(self, sigma_b2: Given, *, digits: int | None = None, within: Any = None) -> FieldPoints:
        """Fixed points with chi_parallel = 1 at sigma_b2 > 0: past such a sigma_w2 two of them are gone.

        Certified, for q from 0.01 to 256 where no range is given.
        """
        s = given.bias_variance(sigma_b2)
        if s == 0:
            raise RefusedNumber("sigma_b2 0: folds are looked for at sigma_b2 > 0")
        return self._balls(digits).folds(s, searched_range(within, positive=True))

    def edge_folds(self, *, digits: int | None = None, within: Any = None) -> FieldPoints:
        """Points where sigma_b2 is stationary along the edge of chaos: there two critical points meet."""
        return self._balls(digits).edge_folds(searched_range(within, positive=True))

    def double_critical(self, *, digits: int | None = None, within: Any = None) -> FieldPoints:
        """Points with chi_1 = chi_parallel = 1, of any sigma_b2 (no network where that is < 0)."""
        return self._balls(digits).double_critical(searched_range(within, positive=True))

    # --- depth -----------------------------------------------------------------

    def depth_scales(
        self, sigma_w2: Given, sigma_b2: Given, *, q: Given | None = None, digits: int | None = None
    ) -> FieldPoint:
        """The scales at the stable fixed point, or at the one nearest to ``q``.

        Raises RefusedNumber where there is no such point, or several stable ones and no q.
        """
        return one_of(self.fixed_points(sigma_w2, sigma_b2, digits=digits), q)

    def critical_decay(
        self, sigma_b2: Given, *, q: Given | None = None, c: float = 0.0, engine: Any = None
    ) -> EdgeLaw:
        """How 1 - c_l falls on the edge of chaos from c_0 = c, with all constants, in floats.

        At the stable critical point, else the only one, or the one nearest to ``q``. Raises RefusedNumber.
        """
        point = one_of(self.edge_of_chaos(sigma_b2, digits=LAYER_DIGITS), q, stable=False)
        w, star = self._numbers(point, engine := self._engine(engine))
        return edge_law(engine, self.phi, w, star, gap_of(c))

    def trajectory(
        self,
        sigma_w2: Given,
        sigma_b2: Given,
        layers: Sequence[int],
        *,
        c: float = 0.0,
        q: float | None = None,
        engine: Any = None,
    ) -> tuple[Layer, ...]:
        """(layer, q_l, eps_l = 1 - c_l) after given layers, ascending, from c_0 = c and q_0 = q, in floats.

        Exact iteration, no asymptotic law. q defaults to the stable fixed point. ``engine`` is "mp", "fast"
        or an engine; where it is left out, the one at float speed, in NumPy where JAX is missing.
        """
        w, s = given.weight_variance(sigma_w2), given.bias_variance(sigma_b2)
        points = self._balls(LAYER_DIGITS).fixed(w, s, None, scales=False)
        stable = [p for p in points if p.stable is not False and p.q_star is not None and p.q_star.hi > 0]
        if points.points and points[0].any_q:
            star: FieldPoint | None = None
        else:
            star = one_of(points, None) if q is None else towards(stable, points.points, q)
        used = self._engine(engine)
        q_star = None if star is None else self._numbers(star, used)[1]
        if star is None and q is None:
            q = 1.0
        w_number, s_number = (like(used, v) for v in (w, s))
        if points.points and points[0].any_q:
            q_star, q = like(used, given.number("q", q)), None
        return tuple(trajectory(used, w_number, s_number, layers, eps=gap_of(c), q=q, q_star=q_star))

    def variances(
        self, sigma_w2: Given, sigma_b2: Given, layers: Sequence[int], *, q: float, engine: Any = None
    ) -> tuple[float, ...]:
        """q_l after given layers, ascending, from q_0 = q > 0, in floats; 0 and inf where it goes there."""
        w, s = given.weight_variance(sigma_w2), given.bias_variance(sigma_b2)
        if not 0 < q < inf:
            raise RefusedNumber(f"q = {q}: a variance > 0 is expected")
        used = self._engine(engine)
        return tuple(variances(used, like(used, w), like(used, s), q, layers))

    def largest_depth(
        self,
        sigma_w2: Given,
        sigma_b2: Given,
        *,
        told_apart_by: float,
        c: float = 0.0,
        q: Given | None = None,
        engine: Any = None,
    ) -> float:
        """L_max: the last layer after which correlations c_l and c* differ by at least ``told_apart_by``."""
        point = one_of(self.fixed_points(sigma_w2, sigma_b2, digits=LAYER_DIGITS), q)
        return depth_limit(self._engine(engine), point, told_apart_by, c)

    def with_depths(self, found: FieldPoints, told_apart_by: Given) -> FieldPoints:
        """The points of a search with their L_max as ``largest_depth``, from c_0 = 0."""
        return with_depth_limits(self._engine(None), found, given.difference(told_apart_by))

    # --- engines ---------------------------------------------------------------

    @cached_property
    def fast(self) -> FastEngine:
        """The engine at float speed; loads JAX."""
        from gateproof.numerics.meanfield.fast import fast_engine

        return fast_engine(self.phi)

    def mp(self, digits: int = 30) -> MpEngine:
        """The engine of any number of digits, with estimated errors; loads mpmath."""
        from gateproof.numerics.meanfield.mp import mp_engine

        return mp_engine(self.phi, digits)

    def certified(self, digits: int = 30) -> CertifiedEngine:
        """The engine whose means are balls."""
        from gateproof.numerics.meanfield.certified import certified_engine

        return certified_engine(self.phi, digits)

    # --- what is known of the activation ----------------------------------------

    def to_json(self) -> dict[str, Any]:
        """What mean field theory starts from: the formula, its kinks, symmetry and ends."""
        from gateproof.theory.formula import to_text

        return {
            "target": self.phi.text,
            "formula": to_text(self.phi.expr),
            "slope": to_text(self.phi.slope),
            "curvature": to_text(self.phi.curvature),
            "kinks": [
                {"at": to_text(k.at), "order": k.order, "jump": to_text(k.jump),
                 "slope_jump": to_text(k.slope_jump), "curvature_jump": to_text(k.curvature_jump)}
                for k in self.phi.kinks
            ],
            "parity": self.phi.parity,
            "homogeneous": self.phi.homogeneous,
            "digits": self.digits,
            "engine": self.engine,
            **about(),
        }  # fmt: skip

    # --- how -------------------------------------------------------------------

    def _searches(self, digits: int | None) -> Certified | Scanned:
        wanted = self.digits if digits is None else digits
        checked_digits(wanted, self.engine)
        if self.engine == "certified":
            return self._balls(wanted)
        if self.engine == "mp":
            fine, error = self.mp(wanted + 4), 10.0 ** -min(wanted + 2, 300)
            return Scanned(Setting(float_engine(self.phi, False), fine, self.phi, error), wanted, "mp")
        return Scanned(Setting(self.fast, self.fast, self.phi, 3e-13), min(wanted, FAST_DIGITS), "fast")

    def _balls(self, digits: int | None) -> Certified:
        wanted = self.digits if digits is None else digits
        checked_digits(wanted, "certified")
        kept = self._kept
        if wanted not in kept:
            kept[wanted] = Certified(self.phi, wanted)
        return kept[wanted]

    @cached_property
    def _kept(self) -> dict[int, Certified]:
        return {}

    def _engine(self, engine: Any) -> Any:
        if engine is None:
            return float_engine(self.phi)
        if engine == "mp":
            return self._layers
        if engine == "fast":
            return self.fast
        if isinstance(engine, str):
            raise RefusedNumber(f"engine {engine!r:.40}: give 'mp', 'fast', or an engine of mp(..) or fast")
        return engine

    @cached_property
    def _layers(self) -> MpEngine:
        return self.mp(LAYER_DIGITS)

    def _numbers(self, point: FieldPoint, engine: Any) -> tuple[Any, Any]:
        """sigma_w2 and q* as numbers of an engine."""
        assert point.sigma_w2 is not None
        assert point.q_star is not None
        return like(engine, point.sigma_w2.middle), like(engine, point.q_star.middle)
