"""Calling the code: with arrays of its library, forwards and through its automatic gradient."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gateproof.proofs_check.code.floats import Format

Array = npt.NDArray[np.float64]
Function = Callable[..., Any]


class CodeError(Exception):
    """What the code did instead of giving values; the message is one line."""


class NotItsKindError(CodeError):
    """It raised, or gave numbers of another library: it may be made for others."""


def library_of(function: Function, arguments: int, form: Format) -> str:
    """Which arrays the function takes: it is called with one number of each library until it answers in kind.

    Raises CodeError where none does.
    """
    tried = [n for n in ("numpy", "torch", "jax", "python") if n in ("numpy", "python") or n in sys.modules]
    said = ""
    for name in tried:
        if name == "numpy" and form.name == "bfloat16":
            continue
        try:
            found = called(function, name, [np.ones(2)] * arguments, form)
        except NotItsKindError as error:
            said = said or f"{name}: {error}"
            continue
        except CodeError:
            return name
        if found.shape == (2,):
            return name
    raise CodeError(f"takes no arrays of {', '.join(tried)} ({said}); give library=")


def called(
    function: Function, library: str, inputs: Sequence[Array], form: Format, by: int | None = None
) -> Array:
    """The results as float64, which holds numbers of all formats. ``by``: the gradient in that argument.

    Raises CodeError where the code raises, gives another shape or another library's numbers, or changes what
    it is given.
    """
    try:
        found, changed = _RUN[library](function, inputs, form, by)
    except CodeError:
        raise
    except Exception as error:
        text = (str(error).splitlines() or [""])[0]
        raise NotItsKindError(f"raises {type(error).__name__}: {text[:200]}") from None
    if changed:
        raise CodeError("changes the array that it is given")
    if found.shape != inputs[0].shape:
        raise CodeError(f"gives shape {found.shape} for arguments of shape {inputs[0].shape}")
    return found


def _numpy(function: Function, inputs: Sequence[Array], form: Format, by: int | None) -> tuple[Array, bool]:
    if form.name == "bfloat16":
        raise NotItsKindError("NumPy has no bfloat16; give dtype= or library=")
    if by is not None:
        raise CodeError("NumPy has no gradients; diff() needs torch or jax")
    given = [x.astype(form.name) for x in inputs]
    with np.errstate(all="ignore"):
        found = function(*(g.copy() for g in given))
        own = [g.copy() for g in given]
        again = function(*own)
    if not isinstance(found, np.ndarray):
        raise NotItsKindError(f"gives a {type(found).__name__}, no array")
    _alike(found.astype(np.float64), np.asarray(again, dtype=np.float64))
    changed = any(a.tobytes() != b.tobytes() for a, b in zip(own, given, strict=True))
    return found.astype(np.float64), changed


def _torch(function: Function, inputs: Sequence[Array], form: Format, by: int | None) -> tuple[Array, bool]:
    from gateproof.kernels.called_code import called_twice

    found = called_twice(function, inputs, form.name, by)
    if isinstance(found, str):
        raise NotItsKindError(f"gives a {found}, no tensor")
    first, second, changed = found
    _alike(first, second)
    return first, changed


def _jax(function: Function, inputs: Sequence[Array], form: Format, by: int | None) -> tuple[Array, bool]:
    import jax

    with jax.enable_x64(True):
        given = [jax.numpy.asarray(x, dtype=form.name) for x in inputs]
        if by is None:
            found, again = function(*given), function(*given)
        else:
            found = again = jax.grad(lambda *a: function(*a).sum(), by)(*given)
        if not isinstance(found, jax.Array):
            raise NotItsKindError(f"gives a {type(found).__name__}, no JAX array")
        first, second = (np.asarray(a, dtype=np.float64) for a in (found, again))
    _alike(first, second)
    return first, False


def _python(function: Function, inputs: Sequence[Array], form: Format, by: int | None) -> tuple[Array, bool]:
    if form.name != "float64":
        raise NotItsKindError('plain Python computes in float64; give dtype="float64"')
    if by is not None:
        raise CodeError("plain Python has no gradients; diff() needs torch or jax")
    found = [function(*map(float, point)) for point in zip(*(x.tolist() for x in inputs), strict=True)]
    wrong = next((v for v in found if isinstance(v, bool) or not isinstance(v, int | float)), None)
    if wrong is not None:
        raise NotItsKindError(f"gives a {type(wrong).__name__}, no number")
    return np.array(found, dtype=np.float64), False


_RUN: dict[str, Callable[[Function, Sequence[Array], Format, int | None], tuple[Array, bool]]] = {
    "numpy": _numpy,
    "torch": _torch,
    "jax": _jax,
    "python": _python,
}


def _alike(first: Array, second: Array) -> None:
    if not np.array_equal(first, second, equal_nan=True):
        raise CodeError("gives other values when it is called again")
