"""JAX: computed in float32, or float64 where x64 is on; jit, vmap, grad and jvp to any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.numerics.backends.op import Op
from gateproof.numerics.backends.special_heads import of_jax


class JaxOps:
    """Elementary functions on arrays of one type."""

    def __init__(self, dtype: Any) -> None:
        import jax.numpy as jnp

        self.dtype, self.small = dtype, dtype == jnp.float32
        self.exp, self.expm1, self.log, self.log1p, self.sqrt = (
            jnp.exp,
            jnp.expm1,
            jnp.log,
            jnp.log1p,
            jnp.sqrt,
        )
        self.sin, self.cos, self.tan = jnp.sin, jnp.cos, jnp.tan
        self.asin, self.acos, self.atan = jnp.arcsin, jnp.arccos, jnp.arctan
        self.sinh, self.cosh = jnp.sinh, jnp.cosh
        self.asinh, self.acosh, self.atanh = jnp.arcsinh, jnp.arccosh, jnp.arctanh
        self.floor, self.power, self.logical_not = jnp.floor, jnp.power, jnp.logical_not

    def tanh(self, u: Any) -> Any:
        """Hyperbolic tangent; XLA's own is up to 20 units in the last place off."""
        import jax.numpy as jnp

        gap = jnp.expm1(-2.0 * abs(u))
        size = -gap / (2.0 + gap)
        return jnp.where(u < 0, -size, size)

    def special(self, head: str, u: Any) -> Any:
        """A special function."""
        return of_jax(head, u)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        """A choice in the type of the arrays."""
        import jax.numpy as jnp

        if isinstance(a, float) and isinstance(b, float):
            a = jnp.asarray(a, self.dtype)
        return jnp.where(condition, a, b)


_known: dict[int, tuple[Op, Callable[..., Any]]] = {}


def differentiable(op: Op) -> Callable[..., Any]:
    """The op with its derivatives as JAX's custom rule."""
    import jax
    import jax.numpy as jnp

    found = _known.get(id(op))
    if found is not None:
        return found[1]

    @jax.custom_jvp
    def value(*args: Any) -> Any:
        x = args[0]
        return jnp.broadcast_to(jnp.asarray(op.tape.run(JaxOps(x.dtype), args), x.dtype), x.shape)

    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        y = value(*primals)
        total = jnp.zeros_like(y)
        # A zero tangent is skipped: its partial derivative need not exist.
        for name, t in zip(op.names, tangents, strict=True):
            if not isinstance(t, jax.custom_derivatives.SymbolicZero):
                total = total + differentiable(op.partial(name))(*primals) * t
        return y, total

    value.defjvp(rule, symbolic_zeros=True)
    _known[id(op)] = (op, value)
    return value


def run(op: Op, args: tuple[Any, ...]) -> Any:
    """The values, in the shape that the arguments broadcast to and in their type.

    float16 and bfloat16 are computed in float32 and rounded once; integers count as the default type;
    Python numbers take the type of the arrays. Raises TypeError for complex arrays.
    """
    import jax.numpy as jnp

    default = jnp.result_type(float)
    own = []
    for a in args:
        if hasattr(a, "dtype"):
            if jnp.issubdtype(a.dtype, jnp.complexfloating):
                raise TypeError(f"real numbers are expected, found {a.dtype}")
            own.append(a.dtype if jnp.issubdtype(a.dtype, jnp.floating) else default)
    dtype = jnp.result_type(*own) if own else default
    dtype = jnp.zeros((), dtype).dtype
    inner = jnp.float64 if dtype == jnp.float64 else jnp.float32
    if not args:
        return jnp.asarray(op.tape.result, dtype)
    inputs = jnp.broadcast_arrays(*(jnp.asarray(a, inner) for a in args))
    return differentiable(op)(*inputs).astype(dtype)
