"""A Python module with the gate as two functions: of a float with ``math`` only, and of NumPy arrays."""

from __future__ import annotations

from gateproof.numerics.fits.exports.about import About, header
from gateproof.numerics.fits.exports.form import Form, form_of
from gateproof.numerics.fits.exports.formats import DOUBLE
from gateproof.numerics.fits.exports.text import Language, TextOps
from gateproof.numerics.fits.exports.walk import value
from gateproof.theory.gate import Gate

FLOATS = Language(
    number=repr,
    calls={"exp": "math.exp", "expm1": "math.expm1", "log1p": "math.log1p", "abs": "abs", "max": "max"},
    choice="{1} if {0} else {2}".format,
    clip="min(max({0}, -{1}), {1})".format,
    define="{} = {}".format,
)
ARRAYS = Language(
    number=repr,
    calls={"exp": "np.exp", "expm1": "np.expm1", "log1p": "np.log1p", "abs": "np.abs", "max": "np.maximum"},
    choice="np.where({}, {}, {})".format,
    clip="np.clip({0}, -{1}, {1})".format,
    define="{} = {}".format,
    scalar=False,
    atomic_choice=True,
    conditions={"infinite and zero": "np.isinf({x}) & ({m} == 0.0)", "nan": "np.isnan({x})"},
)


def python_code(gate: Gate, about: About) -> str:
    """The module's text. Raises RefusedExport for numbers outside the range of doubles."""
    form = form_of(gate, DOUBLE)
    comment = "\n".join(f"# {line}".rstrip() for line in header(form, about, "Computed in double."))
    scalar, arrays = _body(form, FLOATS), _body(form, ARRAYS)
    return f'''{comment}

import math


def {about.name}(x):
    """The gate at a real number, as a float."""
    x = float(x)
    if math.isnan(x):
        return x
{_indented(scalar, 4)}


def {about.name}_numpy(x):
    """The gate on an array; computed in float64 and rounded once to the array's floating type."""
    import numpy as np

    given = np.asarray(x)
    if np.iscomplexobj(given):
        raise TypeError("{about.name}_numpy is a function of real numbers")
    kind = given.dtype if np.issubdtype(given.dtype, np.floating) else np.float64
    x = given.astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
{_indented(arrays[:-1], 8)}
        return np.asarray({arrays[-1].removeprefix("return ")}).astype(kind)[()]
'''


def _body(form: Form, language: Language) -> list[str]:
    o = TextOps(form, language)
    result = value(o, o.name("x"))
    return [*o.lines(result), f"return {result.text}"]


def _indented(lines: list[str], by: int) -> str:
    return "\n".join(" " * by + line for line in lines) or " " * by + "pass"
