r"""A LaTeX table for a paper's appendix: a row a reading, in ``longtable`` with ``booktabs``.

\usepackage{longtable,booktabs,array}  ...  \input{report.tex}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import words

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",
}
#: Where a long word may be broken: behind brackets, operators, dots and underscores, and in long numbers.
_BREAK = re.compile(r"(?<=[(),.*/+=\]_])(?=\S)|(?<=\d{8})(?=\d{3})")


def render(document: Mapping[str, Any]) -> str:
    """Return the table, in plain ASCII; its caption counts the verdicts."""
    head = r"claim & reading & statement & verdict \\"
    version = escaped(document["run"]["versions"]["gateproof"])
    lines = [
        rf"% gateproof {version}; needs \usepackage{{longtable,booktabs,array,textcomp}}",
        r"\begingroup\footnotesize\newcolumntype{L}[1]{>{\raggedright\arraybackslash}p{#1}}",
        r"\begin{longtable}{@{}L{.16\linewidth}L{.22\linewidth}L{.33\linewidth}L{.16\linewidth}@{}}",
        rf"\caption{{Statements and their verdicts: {escaped(words.headline(document))}.}}\\",
        rf"\toprule {head} \midrule \endfirsthead",
        rf"\toprule {head} \midrule \endhead",
        r"\bottomrule \endfoot",
        *_rows(document),
        r"\end{longtable}",
        r"\endgroup",
    ]
    return "\n".join(lines) + "\n"


def _rows(document: Mapping[str, Any]) -> Iterator[str]:
    for paper, claims in words.by_paper(document):
        yield rf"\multicolumn{{4}}{{@{{}}l}}{{\textbf{{{escaped(words.paper_name(paper))}}}}} \\"
        for claim in claims:
            for place, reading in enumerate(claim["readings"]):
                name = rf"\texttt{{{broken(claim['id'])}}}" if place == 0 else ""
                value = words.enclosure(reading["value"])
                verdict = escaped(reading["verdict"]) + (rf"\newline {broken(value)}" if value else "")
                formal = rf"\texttt{{{broken(reading['formal'])}}}"
                yield rf"{name} & {escaped(reading['name'])} & {formal} & {verdict} \\"
            yield r"\addlinespace"


def broken(text: str) -> str:
    """The text escaped, with places where a line may break."""
    return r"\allowbreak{}".join(escaped(part) for part in _BREAK.split(text))


def escaped(text: str) -> str:
    """The text on one line with TeX's special characters written out; what is not ASCII as its number."""
    plain = " ".join(clean.line(text).split())
    return "".join(_SPECIAL.get(c, c if c.isascii() else f"[U+{ord(c):04X}]") for c in plain)
