"""NumPy: computed in float64 and rounded once to the type of the input."""

from __future__ import annotations

from typing import Any

from gateproof.numerics.backends.op import Op
from gateproof.numerics.backends.special_heads import of_numpy


class NumpyOps:
    """Elementary functions on float64 arrays."""

    small = False

    def __init__(self) -> None:
        import numpy as np

        self.exp, self.expm1, self.log, self.log1p, self.sqrt = np.exp, np.expm1, np.log, np.log1p, np.sqrt
        self.sin, self.cos, self.tan = np.sin, np.cos, np.tan
        self.asin, self.acos, self.atan = np.arcsin, np.arccos, np.arctan
        self.sinh, self.cosh, self.tanh = np.sinh, np.cosh, np.tanh
        self.asinh, self.acosh, self.atanh = np.arcsinh, np.arccosh, np.arctanh
        self.where, self.floor, self.power, self.logical_not = np.where, np.floor, np.power, np.logical_not

    def special(self, head: str, u: Any) -> Any:
        """A special function."""
        return of_numpy(head, u)


def run(op: Op, args: tuple[Any, ...]) -> Any:
    """The values, in the shape that the arguments broadcast to and in their type.

    Integers and truth values count as float64, Python numbers take the type of the arrays. Raises
    TypeError for complex numbers and objects.
    """
    import numpy as np

    arrays = [np.asarray(a) for a in args]
    for a in arrays:
        if not (a.dtype.kind in "biuf" or a.dtype.name in ("bfloat16",)) or a.dtype.itemsize > 8:
            raise TypeError(f"real numbers of at most 64 bits are expected, found {a.dtype.name}")
    given = [
        a.dtype
        for a, x in zip(arrays, args, strict=True)
        if hasattr(x, "dtype") and a.dtype.kind not in "biu"
    ]
    dtype = np.result_type(*given) if given else np.dtype(np.float64)
    if any(hasattr(x, "dtype") and a.dtype.kind in "biu" for a, x in zip(arrays, args, strict=True)):
        dtype = np.result_type(dtype, np.float64)
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    with np.errstate(all="ignore"):
        value = op.tape.run(NumpyOps(), tuple(a.astype(np.float64) for a in arrays))
        value = np.broadcast_to(np.asarray(value, dtype=np.float64), shape).astype(dtype)
    plain = not any(isinstance(a, np.ndarray) or not np.isscalar(a) for a in args)
    return value[()] if plain else value
