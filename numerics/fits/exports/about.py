"""What an export says of the gate that it holds, in text that can stand in any comment."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.fits.exports.form import Form
from gateproof.numerics.fits.exports.formats import RefusedExport
from gateproof.numerics.fits.exports.reserved import is_reserved
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate

MOST = 240
_HOW = {
    "certified": "Certified: ",
    "proved": "Proved: ",
    "enclosed": "Enclosed in ball arithmetic: ",
    "sampled": "By dense samples, no certificate: ",
}


@dataclass(frozen=True)
class About:
    """``target`` in any words. ``lo`` and ``hi`` enclose the error, as texts; None where it is not known.

    ``evidence`` is 'certified', 'proved', 'enclosed' or 'sampled'. ``measure`` says of what the error is the
    size. ``domain`` is a set as in the language; ``ends`` its ends, None where it is infinite. ``more`` are
    further lines. ``name`` is that of the function or module in generated code.
    """

    target: str = ""
    lo: str | None = None
    hi: str | None = None
    evidence: str = "sampled"
    norm: str = "sup"
    measure: str = "sup |gate - target|"
    domain: str = "R"
    ends: tuple[Fraction | None, Fraction | None] = (None, None)
    more: tuple[str, ...] = ()
    name: str = "gate"

    def __post_init__(self) -> None:
        identifier(self.name)
        if self.evidence not in _HOW:
            raise ValueError(f"evidence {self.evidence!r}: {', '.join(_HOW)} are known")

    @property
    def certified(self) -> bool:
        """Whether the error is enclosed by more than samples."""
        return self.evidence != "sampled"

    @property
    def error_line(self) -> str:
        """One line on the error."""
        if self.hi is None and self.lo is None:
            return "Error: not given."
        lo, hi = self.lo or "?", self.hi or "oo"
        ends = f"is {lo}" if lo == hi else f"is between {lo} and {hi}"
        return one_line(f"{_HOW[self.evidence]}{self.measure} over x in {self.domain} {ends}")


def identifier(name: str) -> str:
    """The name, if generated code in C and Python can have it. Raises RefusedExport."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", name, re.ASCII):
        raise RefusedExport(f"name {one_line(name, 40)!r}: give letters, digits and _ with a letter in front")
    if is_reserved(name):
        raise RefusedExport(f"name {name!r} is reserved; give another one")
    return name


def one_line(text: str, most: int = MOST) -> str:
    """Any text as printable ASCII on one line that opens or closes no comment, cut at a length."""
    flat = " ".join(text.split())
    flat = flat.encode("ascii", "backslashreplace").decode("ascii")
    flat = "".join(c if c.isprintable() else " " for c in flat)
    # A comment of C, a trigraph, a string of Python, and markup.
    for two in ("*/", "/*", "??", '"""', "'''", "<!", "-->"):
        while two in flat:
            flat = flat.replace(two, " ".join(two))
    flat = flat.rstrip("\\")
    return flat if len(flat) <= most else flat[: most - 4].rstrip("\\") + " ..."


def made_by() -> str:
    """The program and its version."""
    return f"gateproof {own_version()}"


def own_version() -> str:
    """The version of gateproof, also where it runs from a source tree."""
    return str(sys.modules["gateproof"].__version__)


def numbers(gate: Gate) -> dict[str, list[str]]:
    """The gate's exact numbers as texts of the language."""
    return {key: [to_text(v) for v in getattr(gate, key)] for key in ("tau", "theta", "slope", "intercept")}


def header(form: Form, about: About, how: str) -> list[str]:
    """Lines on the gate, its error, and what rounding adds; ``how`` is a sentence on the arithmetic."""
    gate = form.gate
    lines = [
        f"Threshold gate, K = {gate.branches}, {gate.algebra} gates, branches left to right.",
        f"Made by {made_by()}.",
        f"Target: {one_line(about.target) or 'not named'}",
        about.error_line,
        *(one_line(line) for line in about.more),
        "This is the error of the gate with these exact numbers:",
    ]
    for key, values in numbers(gate).items():
        lines += _wrapped(f"  {key} = [", [one_line(v) for v in values])
    t = f"x - {form.centre!r}" if form.centre else "x"
    lines += [
        how,
        f"Rounded constants and operations change the value by at most {form.rounding} u A(x), where",
        f"u = 2^-{form.floating.digits}, A(x) = max_k (|slope_k t| + |intercept_k|), t = {t}, and nothing",
        f"overflows or underflows: {nearby(form)}.",
        "NaN gives NaN; +oo and -oo give the limits.",
    ]
    if form.centre:
        lines.append("Thresholds and intercepts below are those in t: no digit is lost far from 0.")
    return lines


def nearby(form: Form) -> str:
    """What the bound on rounding comes to where the gates change."""
    bound = form.rounding * float(form.floating.unit) * form.size(form.near)
    return f"at most {bound:.2g} for |t| <= {form.near:g}"


def _wrapped(start: str, values: list[str], width: int = 100) -> list[str]:
    lines, line = [], start
    for place, value in enumerate(values):
        more = value + (", " if place < len(values) - 1 else "")
        if len(line) + len(more) > width and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += more
    return [*lines, line + "]"]
