"""The gate as two C99 functions, in double and in float: inline in a header, or external in a source file."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.fits.exports.about import About, header, nearby
from gateproof.numerics.fits.exports.form import Form, form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, SINGLE, RefusedExport, rounded
from gateproof.numerics.fits.exports.text import Language, TextOps
from gateproof.numerics.fits.exports.walk import value
from gateproof.theory.gate import Gate


def _language(kind: str, suffix: str) -> Language:
    calls = {name: f"{name}{suffix}" for name in ("exp", "expm1", "log1p")}
    return Language(
        number=lambda v: f"{_digits(v, suffix)}{suffix}",
        calls={**calls, "abs": f"fabs{suffix}", "max": f"fmax{suffix}"},
        choice="{} ? {} : {}".format,
        clip=lambda v, reach: f"fmin{suffix}(fmax{suffix}({v}, -{reach}), {reach})",
        define=lambda name, v: f"const {kind} {name} = {v};",
    )


def _digits(value: float, suffix: str) -> str:
    """A decimal that reads back to the number, in as few digits as its format needs."""
    if not suffix:
        return repr(value)
    # Nine digits always read back, in one rounding from the decimal to single precision.
    texts = (f"{value:.{digits}g}" for digits in range(1, 9))
    text = next((t for t in texts if _single(t) == value), f"{value:.9g}")
    return text if "." in text or "e" in text else f"{text}.0"


def _single(text: str) -> float:
    return rounded(Fraction(text), SINGLE)


def c_header(gate: Gate, about: About) -> str:
    """A header with ``static inline`` functions, to be included.

    Without a float function, saying why, where numbers are out of its range. Raises RefusedExport for numbers
    outside the range of doubles.
    """
    comment, functions = _parts(gate, about, "Include it, and link with -lm.")
    guard = f"GATEPROOF_{about.name.upper()}_H"
    code = "\n".join(f"static inline {one}" for _, one in functions)
    return f"{comment}\n#ifndef {guard}\n#define {guard}\n\n#include <math.h>\n\n{code}\n#endif\n"


def c_source(gate: Gate, about: About) -> str:
    """A source file with external functions, to be compiled and linked; else as :func:`c_header`."""
    comment, functions = _parts(gate, about, "Compile and link it with your program and -lm; declare there:")
    declared = "\n".join(f"{head};" for head, _ in functions)
    code = "\n".join(one for _, one in functions)
    return f"{comment}\n#include <math.h>\n\n{declared}\n\n{code}"


def _parts(gate: Gate, about: About, use: str) -> tuple[str, list[tuple[str, str]]]:
    """The comment, and each function's head and text. ``use`` says how the file is used."""
    form = form_of(gate, DOUBLE)
    lines = header(form, about, f"{about.name} computes in double.")
    functions = [_function(form, "double", "", about.name)]
    try:
        single = form_of(gate, SINGLE)
    except RefusedExport as error:
        more = f"There is no float function: {error}."
    else:
        more = (
            f"{about.name}f computes in float: the same with {single.rounding} and u = 2^-{SINGLE.digits}:"
            f" {nearby(single)}."
        )
        functions.append(_function(single, "float", "f", about.name))
    lines += [
        more,
        "exp, expm1 and log1p are taken to be within 1 ulp. -ffast-math would lose NaN and infinities.",
        use,
    ]
    if use.endswith(":"):
        lines += [f"  {head};" for head, _ in functions]
    return "/*\n" + "\n".join(f" * {line}".rstrip() for line in lines) + "\n */", functions


def _function(form: Form, kind: str, suffix: str, name: str) -> tuple[str, str]:
    """A function's head and its text."""
    o = TextOps(form, _language(kind, suffix))
    result = value(o, o.name("x"))
    body = ["if (isnan(x)) {", "    return x;", "}", *o.lines(result), f"return {result.text};"]
    inner = "\n".join(f"    {line}" for line in body)
    head = f"{kind} {name}{suffix}({kind} x)"
    return head, f"{head}\n{{\n{inner}\n}}\n"
