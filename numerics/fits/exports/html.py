"""A gate as HTML for notebooks: a table, all text escaped, and a picture that is given."""

from __future__ import annotations

from html import escape

from gateproof.numerics.fits.exports.about import About, numbers
from gateproof.theory.gate import Gate

_LEFT = ' style="text-align: left"'


def html_summary(gate: Gate, about: About, svg: str = "") -> str:
    """``svg`` is an element that ``picture.svg_inline`` made; it is not escaped."""
    rows = [
        ("target", about.target or "not named"),
        ("gate", f"K = {gate.branches}, {gate.algebra} gates, branches left to right"),
        *((key, ", ".join(values)) for key, values in numbers(gate).items() if values),
        ("error", about.error_line),
    ]
    cells = "".join(
        f"<tr><th{_LEFT}>{escape(name)}</th><td{_LEFT}>{escape(text)}</td></tr>" for name, text in rows
    )
    return f"<div><table>{cells}</table>{svg}</div>"
