"""How a Python function is called: on an array, a tensor, a column of them, or one number at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import DOUBLE, SINGLE, RefusedTarget
from gateproof.numerics.fits.target_torch import as_array, of_module, on_tensors, torch_module
from gateproof.numerics.fits.target_user import Ended, user_code

Function = Callable[[Array], Array]
ALONE = "give a function that depends on x alone"
RESOLUTIONS = {"float32": SINGLE, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass(frozen=True)
class Callee:
    """A function on float64 arrays, what is to be said of it, and the accuracy of its values."""

    run: Function
    notes: tuple[str, ...] = ()
    resolution: float = DOUBLE


def callee(given: Any, name: str, x: Array) -> Callee:
    """The first way of calling it that gives one real number for each of x. Raises RefusedTarget."""
    module = torch_module(given)
    if module is not None:
        run, notes = of_module(given)
        ways: list[tuple[str, Function]] = [("tensor", run), ("column", _columns(run))]
    else:
        notes = ()
        ways = [("array", lambda v: given(v.copy()))]
        if "torch" in sys.modules:
            ways.append(("tensor", on_tensors(given)))
        ways += [("column", _columns(lambda v: given(v.copy()))), ("number", _one_by_one(given))]
    errors: dict[str, str] = {}
    for way, run in ways:
        try:
            with np.errstate(all="ignore"), user_code():
                found = run(x)
                values, resolution = real(found, x)
        except RefusedTarget as error:
            errors[way] = str(error)
        except Exception as error:
            errors[way] = raised(error)
        else:
            if way == "array" and not _agrees(given, x, values):
                raise RefusedTarget(_dependence(name, float(x[2]), _same(run, x, values)))
            if resolution > DOUBLE:
                bits = "float32" if resolution <= SINGLE else "less than float32"
                notes = (
                    *notes,
                    f"{name} computes in {bits}: its values carry errors of {resolution:.1g} of their size",
                )
            return Callee(run, notes, resolution)
    raise RefusedTarget(f"{name} is no function of one real number: {_why(given, errors)}")


def _one_by_one(given: Any) -> Function:
    def run(x: Array) -> Array:
        found = np.empty(len(x))
        for k, at in enumerate(x.tolist()):
            try:
                value = given(at)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise RefusedTarget(f"at x = {at:.6g} it raised {raised(error)}") from None
            found[k] = _number(value, at)
        return found

    return run


def _number(value: Any, at: float) -> float:
    if isinstance(value, complex | np.complexfloating):
        raise RefusedTarget(f"it returns a complex number at x = {at:.6g}")
    if value is None or isinstance(value, str | bytes):
        raise RefusedTarget(f"it returns {value!r:.40} at x = {at:.6g}, not a number")
    array = as_array(value)
    if array is not None:
        if array.size != 1 or array.dtype.kind not in "biuf":
            raise RefusedTarget(
                f"it returns an array of shape {array.shape} and type {array.dtype} for one number"
            )
        return float(array.reshape(())[()])
    try:
        return float(value)
    except Exception:
        raise RefusedTarget(f"it returns a {type(value).__name__} at x = {at:.6g}, not a number") from None


def _columns(run: Callable[[Any], Any]) -> Function:
    """For models that take n rows of one feature."""

    def column(x: Array) -> Array:
        found = as_array(run(x[:, None]))
        if found is None or found.shape not in ((len(x), 1), (len(x),)):
            raise RefusedTarget("it does not return one value for each row")
        return found.reshape(len(x))

    return column


def real(found: Any, x: Array) -> tuple[Array, float]:
    """The result as float64, and the accuracy of its type. Raises RefusedTarget."""
    if isinstance(found, tuple | list) and any(np.ndim(f) for f in found if not isinstance(f, str)):
        raise RefusedTarget(f"it returns a {type(found).__name__} of {len(found)} for {len(x)} numbers")
    resolution = DOUBLE
    own = getattr(found, "dtype", None)
    if own is not None:
        resolution = RESOLUTIONS.get(str(own).removeprefix("torch."), DOUBLE)
    array = as_array(found)
    if array is None:
        raise RefusedTarget(f"it returns a {type(found).__name__}, not an array of numbers")
    if array.dtype.kind == "c":
        raise RefusedTarget("it returns complex numbers")
    if array.dtype.kind == "O":
        array = np.array([_number(v, at) for v, at in zip(array.ravel(), x, strict=False)]).reshape(
            array.shape
        )
    if array.dtype.kind not in "biuf":
        raise RefusedTarget(f"it returns values of type {array.dtype}, not numbers")
    if array.shape != x.shape:
        raise RefusedTarget(f"it returns shape {array.shape} for {len(x)} numbers")
    return array.astype(np.float64), resolution


def _agrees(given: Any, x: Array, values: Array) -> bool:
    """Whether one number alone, where it can be given, has the value that it has in the array."""
    try:
        with user_code():
            alone = _number(given(float(x[2])), float(x[2]))
    except Exception:
        return True
    apart = abs(alone - values[2])
    return not apart > 1e-2 * (abs(alone) + float(np.nanmax(np.abs(values), initial=0.0)))


def _same(run: Function, x: Array, values: Array) -> bool:
    try:
        with np.errstate(all="ignore"), user_code():
            again, _ = real(run(x), x)
    except Exception:
        return False
    return bool(np.array_equal(again, values, equal_nan=True))


def _dependence(name: str, x: float, repeats: bool) -> str:
    if not repeats:
        return f"{name} gives different values at x = {x:.6g}: it is random or remembers; {ALONE}"
    return f"{name}: its value at x = {x:.6g} depends on the other numbers given with it; {ALONE}"


def raised(error: BaseException) -> str:
    """An exception in one line."""
    if isinstance(error, Ended):
        return str(error)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}" if text else type(error).__name__


def _why(given: Any, errors: dict[str, str]) -> str:
    """The most telling of the errors."""
    for way in ("number", "array", "tensor", "column"):
        if "complex" in errors.get(way, ""):
            return errors[way]
    if "number" not in errors:
        return next(iter(errors.values()))
    try:
        with user_code():
            found = given(2)
        if isinstance(found, int | float) and "TypeError" in errors["number"]:
            return f"it takes whole numbers only ({errors['number']})"
    except Exception:
        pass
    number = errors["number"]
    unusual = "AttributeError" in number or "TypeError" in number
    return errors["tensor"] if unusual and "tensor" in errors else errors["array"] if unusual else number
