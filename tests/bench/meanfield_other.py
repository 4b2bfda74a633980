"""What other libraries compute at given points, in an interpreter of their own: ``python FILE LIBRARY``.

Reads {"q": [..], "c": [..], "names": [..], "runs": n} on its input and writes {name: {"values", "seconds"}},
CPU seconds of a warm call on all points, the least of the runs. neural-tangents 0.6.5 needs jax<0.6 and
tf2jax<0.3.8; dks 0.1.2 needs absl-py: no interpreter holds either beside ours.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: Calls go on for so long in all.
SECONDS = 0.2


def timed(work: Callable[[], Any], runs: int) -> tuple[Any, float]:
    """The result of a warm call and the least CPU time."""
    result, spent = work(), list[float]()
    while len(spent) < runs or sum(spent) < SECONDS:
        start = time.process_time()
        result = work()
        spent.append(time.process_time() - start)
    return result, min(spent)


def neural_tangents(q: Any, c: Any, names: list[str], runs: int) -> dict[str, Any]:
    """Closed forms where it has them, else its Gauss-Hermite rule of the degree in the name, as tanh@200."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from neural_tangents import stax

    layers = {
        "gelu": lambda: stax.Gelu(approximate=False),
        "erf": stax.Erf,
        "relu": stax.Relu,
        "abs": stax.Abs,
        "sin": stax.Sin,
        "cos": stax.Cos,
        "gaussian": lambda: stax.Gaussian(b=-1.0),
        "tanh": lambda: stax.ElementwiseNumerical(jnp.tanh, deg=200),
        "silu": lambda: stax.ElementwiseNumerical(jax.nn.silu, deg=200),
        "softplus": lambda: stax.ElementwiseNumerical(jax.nn.softplus, deg=200),
        "tanh@25": lambda: stax.ElementwiseNumerical(jnp.tanh, deg=25),
    }
    from neural_tangents._src.utils.kernel import Kernel

    def nngp(name: str) -> Callable[[Any, Any], Any]:
        """One layer's map of two inputs of as many pixels as there are points, each a point (q, c q)."""
        _, _, apply = layers[name]()

        def one(q: Any, c: Any) -> Any:
            shape = (1, q.shape[0], 1)
            given = Kernel(
                cov1=q[None], cov2=q[None], nngp=(c * q)[None, None], ntk=None, is_gaussian=True,
                is_reversed=False, is_input=False, diagonal_batch=True, diagonal_spatial=True, shape1=shape,
                shape2=shape, batch_axis=0, channel_axis=2, x1_is_x2=jnp.array(False), mask1=None, mask2=None,
            )  # fmt: skip
            return apply(given).nngp.reshape(-1)

        return jax.jit(one)

    found = {}
    for name in names:
        if name not in layers:
            continue
        compiled = nngp(name)
        values, seconds = timed(lambda compiled=compiled: np.asarray(compiled(q, c)), runs)
        found[name] = {"values": values.tolist(), "seconds": seconds}
    return found


def dks(q: Any, c: Any, names: list[str], runs: int) -> dict[str, Any]:
    """Its numerical C map, point by point: it caches nothing between points."""
    from dks.base import activation_transform as at

    known = {"tanh": np.tanh, "silu": lambda x: x / (1 + np.exp(-x))}
    found = {}
    for name in names:
        if name not in known:
            continue
        f = known[name]

        def all_points(f: Any = f) -> Any:
            out = []
            for a, b in zip(q.tolist(), c.tolist(), strict=True):
                g = lambda x, a=a: f(np.sqrt(a) * x)  # noqa: E731
                out.append(at._calc_c_map(g, c=b, q_output=1.0))
            return np.array(out)

        values, seconds = timed(all_points, runs)
        found[name] = {"values": values.tolist(), "seconds": seconds}
    return found


if __name__ == "__main__":
    given = json.load(sys.stdin)
    library = {"neural-tangents": neural_tangents, "dks": dks}[sys.argv[1]]
    points = np.array(given["q"]), np.array(given["c"])
    json.dump(library(*points, given["names"], given["runs"]), sys.stdout)
