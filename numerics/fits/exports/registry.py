"""Which formats there are, by the end of a file's name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.fits.exports.about import About, identifier, made_by, one_line
from gateproof.numerics.fits.exports.formats import RefusedExport, refuse_missing
from gateproof.numerics.fits.exports.pair import Given, read_pair
from gateproof.numerics.tolerance import decimal
from gateproof.theory.differential_pair import Pair

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Error, Fit


#: Significant digits of the error in exports, and the length up to which an exact one is written in full.
DIGITS, MOST_EXACT = 10, 24


@dataclass(frozen=True)
class Asked:
    """What a file is asked for besides the fit: its ``name``, and the ``pair`` of a hardware table."""

    name: str
    pair: Pair


@dataclass(frozen=True)
class Export:
    """A format: the ends of names that ask for it, what it is, how it is made of a fit, by which package."""

    kind: str
    suffixes: tuple[str, ...]
    what: str
    make: Callable[[Fit, About, Asked], str | bytes]
    needs: str = ""

    def refuse_early(self) -> None:
        """Raise RefusedExport, before there is a fit, where the package is not installed."""
        if self.needs:
            refuse_missing(self.needs, self.what)

    @property
    def for_hardware(self) -> bool:
        """Whether it is a table that a pair matters to."""
        return self.kind in ("hardware", "csv", "markdown")


def _json(fit: Fit, about: About, asked: Asked) -> str:  # noqa: ARG001 - the signature of all
    return json.dumps(fit.to_json(), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def _python(fit: Fit, about: About, asked: Asked) -> str:  # noqa: ARG001 - the signature of all
    from gateproof.numerics.fits.exports.python_code import python_code

    return python_code(fit.gate, about)


def _torch(fit: Fit, about: About, asked: Asked) -> str:  # noqa: ARG001 - the signature of all
    from gateproof.numerics.fits.exports.torch_code import torch_code

    return torch_code(fit.gate, about)


def _header(fit: Fit, about: About, asked: Asked) -> str:  # noqa: ARG001 - the signature of all
    from gateproof.numerics.fits.exports.c_code import c_header

    return c_header(fit.gate, about)


def _source(fit: Fit, about: About, asked: Asked) -> str:  # noqa: ARG001 - the signature of all
    from gateproof.numerics.fits.exports.c_code import c_source

    return c_source(fit.gate, about)


def _onnx(fit: Fit, about: About, asked: Asked) -> bytes:
    from gateproof.numerics.fits.exports.onnx_model import onnx_model

    return onnx_model(fit.gate, about, rank=_rank(asked.name))


def _onnx_double(fit: Fit, about: About, asked: Asked) -> bytes:
    from gateproof.numerics.fits.exports.onnx_model import onnx_model

    return onnx_model(fit.gate, about, double=True, rank=_rank(asked.name))


def _rank(name: str) -> int | None:
    """The rank that ``gate.rank4.onnx`` and ``gate.rank4.double.onnx`` ask for; None if none."""
    found = re.search(r"(?:^|\.)rank(\d{1,2})(?:\.double)?\.onnx$", name.lower(), re.ASCII)
    return None if found is None else int(found[1])


def _latex(fit: Fit, about: About, asked: Asked) -> str:  # noqa: ARG001 - the signature of all
    from gateproof.numerics.fits.exports.latex import latex

    lines = (f"Made by {made_by()}.", one_line(about.target), about.error_line)
    return "".join(f"% {line}\n" for line in lines) + latex(fit.gate)


def _hardware(shape: str) -> Callable[[Fit, About, Asked], str]:
    def make(fit: Fit, about: About, asked: Asked) -> str:
        from gateproof.numerics.fits.exports import hardware

        document = hardware.table(
            fit.gate, about, worst_case=fit.tolerant, pair=asked.pair, fraction=fit.fraction_bits
        )
        found: str = getattr(hardware, f"as_{shape}")(document)
        return found

    return make


#: More telling ends come first.
EXPORTS = (
    Export("hardware", (".hardware.json",), "hardware constants as JSON", _hardware("json")),
    Export("json", (".json",), "the fit's document; gateproof reads it as a target", _json),
    Export("torch", ("torch.py",), "a torch module in a file of its own", _torch),
    Export("python", (".py",), "Python functions for floats (math) and arrays (NumPy)", _python),
    Export("c-header", (".h",), "a C99 header with inline functions in double and float", _header),
    Export("c", (".c",), "C99 functions in double and float, to be compiled and linked", _source),
    Export("onnx-double", (".double.onnx",), "an ONNX model in double", _onnx_double, "onnx"),
    Export("onnx", (".onnx",), "an ONNX model in float", _onnx, "onnx"),
    Export("csv", (".csv",), "hardware constants as CSV", _hardware("csv")),
    Export("markdown", (".md",), "hardware constants as Markdown", _hardware("markdown")),
    Export("latex", (".tex",), "LaTeX for math mode", _latex),
)
SUFFIXES = tuple(s for e in EXPORTS for s in e.suffixes)


def export_of(name: str) -> Export:
    """The format that a file's name, or the end of one, asks for. Raises RefusedExport."""
    for export in EXPORTS:
        if name.lower().endswith(export.suffixes):
            return export
    raise RefusedExport(f"{one_line(name, 60)!r}: the name ends in none of {', '.join(SUFFIXES)}")


def render(fit: Fit, name: str, *, function: str | None = None, hardware: Given = None) -> bytes:
    """The export of a fit that a file of that name holds; ``function`` is the name in generated code.

    Without one it is ``gate``; in C, where two of that name would clash, the file's where it can be.
    ``hardware`` is the differential pair of the hardware tables, as ``{"temperature_kelvin": 330}``.
    Raises RefusedExport, in one line, for an unknown format, for a gate that the format cannot hold, and for
    a pair that means nothing.
    """
    export = export_of(name)
    if function is None:
        function = _stem(name) if export.kind in ("c", "c-header") else "gate"
    made = export.make(fit, about_of(fit, function), Asked(name, read_pair(hardware)))
    return made.encode("utf-8") if isinstance(made, str) else made


def _stem(name: str) -> str:
    """The file's name as one of C, else gate."""
    stem = re.sub(r"[^A-Za-z0-9_]", "_", name.replace("\\", "/").rpartition("/")[2].partition(".")[0])
    try:
        return identifier(stem)
    except RefusedExport:
        return "gate"


def about_of(fit: Fit, function: str = "gate") -> About:
    """What exports say of a fit."""
    lo, hi = _ends(fit.error)
    return About(
        target=fit.target.name,
        lo=lo,
        hi=hi,
        evidence=fit.error.evidence,
        norm=fit.request.norm,
        measure=_measure(fit),
        domain=fit.target.domain,
        ends=(fit.target.lo, fit.target.hi),
        more=_outside(fit),
        name=function,
    )


def _ends(error: Error) -> tuple[str, str]:
    if error.hi is None:
        return "oo", "oo"
    if error.lo == error.hi and len(short := decimal(error.lo)) <= MOST_EXACT:
        return short, short
    ends = decimal_enclosure(error.lo, error.hi, DIGITS)
    return ends["lo"], ends["hi"]


def _measure(fit: Fit) -> str:
    if fit.request.norm == "rms":
        return f"root mean square of gate - target ({fit.measure or 'measure not named'})"
    if fit.request.norm == "relative":
        return "sup |gate - target|/|target|"
    if fit.target.weight is not None:
        return f"sup |gate - target| times {fit.request.weight or 'a weight'}"
    return "sup |gate - target|"


def _outside(fit: Fit) -> tuple[str, ...]:
    """A line on the error past the ends of the domain."""
    if fit.target.lo is None and fit.target.hi is None:
        return ()
    error = fit.outside
    if error is None or (error.hi is None and error.evidence == "sampled"):
        return ("Outside of the domain the error is not known.",)
    if error.hi is None:
        return ("Outside of the domain the error is infinite.",)
    return (f"Over all of R sup |gate - target| is at most {_ends(error)[1]} ({error.evidence}).",)
