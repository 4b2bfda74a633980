"""Means of any activation by panels, point by point: where its function must be cut, and how finely."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield import fast_panels as panels
from gateproof.numerics.meanfield.fast_calibration import step_of
from gateproof.numerics.meanfield.fast_chunks import Done, filled, pieces
from gateproof.numerics.meanfield.fast_features import features
from gateproof.numerics.meanfield.fast_functions import Functions, branch_of
from gateproof.numerics.meanfield.fast_hermite import REACH

Array = NDArray[np.float64]
Traced = Callable[..., Any]

_SINGLES, _PAIRS = (16, 256), (8,)
#: Below this part of the narrowest panel a difference f(u) - f(v) is taken by f', with 5 nodes in between.
_CLOSE = 0.02


class NotResolved(ArithmeticError):
    """A mean whose error estimate stays above what is allowed; the message says of what and where."""


@partial(jax.jit, static_argnums=(0, 1))
def _singles(f: Traced, heat: bool, cuts: Any, q: Any) -> Any:
    return jax.lax.map(lambda one: panels.single(f, cuts, one, heat), q, batch_size=16)


@partial(jax.jit, static_argnums=0)
def _pairs(f: Traced, outer: Any, inner: Any, centres: Any, sign: Any, q: Any, eps: Any) -> Any:
    def body(u: Any, step: Any) -> Any:
        return f(u, step, sign)

    return jax.lax.map(lambda p: panels.pair(body, outer, inner, centres, p[0], p[1]), (q, eps))


@partial(jax.jit, static_argnums=(0, 1))
def _givens(f: Traced, at: float, cuts: Any, q: Any, c: Any) -> Any:
    return jax.vmap(lambda q, c: panels.given(f, at, cuts, q, c, 1 - c))(q, c)


@lru_cache(maxsize=1024)
def product(f: Traced) -> Traced:
    """f(u) f(sign v)."""
    return lambda u, step, sign: f(u) * f(sign * (u + step))


@lru_cache(maxsize=1024)
def half_square(f: Traced, slope: Traced, kinks: tuple[float, ...], close: bool) -> Traced:
    """(f(u) - f(v))^2/2, by the mean of the slope where u and v are close and on one branch."""
    t, w = np.polynomial.legendre.leggauss(5)

    def value(u: Any, step: Any, sign: Any) -> Any:  # noqa: ARG001 v is close to u, never to -u
        v = u + step
        plain = f(v) - f(u)
        if close:
            mean = sum(w_k / 2 * slope(u + (t_k + 1) / 2 * step) for t_k, w_k in zip(t, w, strict=True))
            plain = jnp.where(branch_of(kinks, u) == branch_of(kinks, v), step * mean, plain)
        return plain**2 / 2

    return value


class General:
    """One activation's panels."""

    def __init__(self, own: Functions) -> None:
        self.own = own
        self._cuts: dict[int, tuple[float, ...] | None] = {}

    def cuts(self, step: int) -> Array:
        """Where the activation is cut for variances up to 2^(step/2). Raises NotResolved."""
        if step not in self._cuts:
            reach = REACH * 2.0 ** (step / 4)
            self._cuts[step] = features(self.own.parts, self.own.kinks, reach)
        found = self._cuts[step]
        if found is None:
            raise NotResolved(
                f"the activation has too many features for variances near {2.0 ** (step / 2):g}"
            )
        return np.array(found)

    def single(
        self, f: Traced, q: Array, mirrored: bool = False, heat: bool = False
    ) -> tuple[Array, Array, Array]:
        """E f(u) with error and size, for flat q; f is made of the activation and its derivatives.

        ``mirrored``: of their values at -u too. ``heat``: the slope of the mean in q.
        """
        out = np.empty((3, len(q)))
        steps = step_of(q)
        for step in np.unique(steps):
            here = np.nonzero(steps == step)[0]
            own = self.cuts(int(step))
            cuts = _padded(np.union1d(own, -own) if mirrored else own, 0.0)
            for start, stop, size in pieces(len(here), _SINGLES):
                found = _singles(f, heat, cuts, filled(q[here[start:stop]], size))
                out[:, here[start:stop]] = np.asarray(jnp.stack(found))[:, : stop - start]
        return out[0], out[1], out[2]

    def pair(
        self, f: Callable[[bool], Traced], sign: int, q: Array, eps: Array, done: Done
    ) -> tuple[Array, Array, Array]:
        """E f(u, v - u) at |c| = 1 - eps, eps in (0, 1]; v is cut as the activation of sign * v.

        f is asked with True for points whose u and v are so close that f(u) - f(v) cancels.
        """
        out = np.empty((3, len(q)))
        steps = step_of(q)
        wide = np.sqrt(q * eps * (2 - eps))
        for step in np.unique(steps):
            cuts = self.cuts(int(step))
            narrow = _narrowest(cuts, REACH * 2.0 ** (float(step) / 4))
            level = np.where(wide * 4 > narrow, 0, np.where(wide > _CLOSE * narrow, 1, 2))
            for kind in (0, 1, 2):
                here = np.nonzero((steps == step) & (level == kind))[0]
                kinks = np.array(self.own.kinks)
                inner = np.sort(sign * (kinks if kind else cuts))
                centres = sign * (kinks if len(kinks) else _centre(cuts))
                # Centres are of v; a kink that is out of reach is clipped to a panel of width 0.
                for start, stop, size in pieces(len(here), _PAIRS):
                    mine = here[start:stop]
                    found = _pairs(
                        f(kind == 2), _padded(cuts, 0.0), _padded(inner, 0.0), centres, float(sign),
                        filled(q[mine], size), filled(eps[mine], size),
                    )  # fmt: skip
                    out[:, mine] = np.asarray(jnp.stack(found))[:, : stop - start]
                    done(stop - start)
        return out[0], out[1], out[2]

    def given(self, f: Traced, at: float, q: Array, c: Array) -> Array:
        """E f(v) for u = at, flat arrays, |c| < 1."""
        out = np.empty(len(q))
        steps = step_of(q)
        for step in np.unique(steps):
            here = np.nonzero(steps == step)[0]
            cuts = _padded(self.cuts(int(step)), 0.0)
            for start, stop, size in pieces(len(here), _SINGLES):
                mine = here[start:stop]
                found = _givens(f, at, cuts, filled(q[mine], size), filled(c[mine], size))
                out[mine] = np.asarray(found)[: stop - start]
        return out


def _padded(cuts: Array, empty: float) -> Array:
    """To one of a few sizes, for each of which there is a compilation."""
    room = next((n for n in (4, 12, 24) if n >= len(cuts)), len(cuts) + -len(cuts) % 48)
    return np.concatenate([cuts, np.full(room - len(cuts), cuts[-1] if len(cuts) else empty)])


def _narrowest(cuts: Array, reach: float) -> float:
    ends = np.concatenate([[-reach], cuts, [reach]])
    return float(np.diff(ends).min())


def _centre(cuts: Array) -> Array:
    """The middle of the narrowest panels, for a function without kinks."""
    if len(cuts) < 2:
        return np.array([0.0])
    widths = np.diff(cuts)
    i = int(np.median(np.nonzero(widths <= widths.min() * (1 + 1e-9))[0]))
    return np.array([(cuts[i] + cuts[i + 1]) / 2])
