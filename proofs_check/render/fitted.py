"""A fit for a terminal: the gate, how far it is from the target, and how near the best possible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import varied
from gateproof.proofs_check.render.terminal import Style

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Fit
    from gateproof.theory.formula.nodes import Expr

#: Width of the names of the lines; peaks and places shown.
WIDTH, MOST = 11, 12
#: Bounds farther below the error than that are printed without saying how far: they may be weak.
NEAR, TINY = Fraction(1, 4), Fraction(1, 10**8)
_ZEROS = re.compile(r"(?<![\w.])0\.0{7}\d+")


def summary(fit: Fit, style: Style) -> str:
    """All that is known of a fit, a line each."""
    title = f"{fit.target.name} on {fit.target.domain}: {_branches(fit.k)}"
    lines = [_bold(title, style), "", f"  y = {_small(fit.text)}", "", *table(fit), ""]
    lines += [f"  {name:{WIDTH}}{text}" for name, text in entries(fit) if text]
    lines += ["", f"  {_coloured(fit, style)}"]
    return "".join(f"{clean.line(line, 4_000) if not style.colour else line}\n" for line in lines)


def table(fit: Fit) -> Iterator[str]:
    """The branches, left to right, each with the threshold and the sharpness on its right."""
    from gateproof.numerics.fits.result_json import texts

    def short(values: tuple[Expr, ...]) -> list[str]:
        return [_small(text) for text in texts(values)]

    gate = fit.gate
    head = ("branch", "slope", "intercept", "until x =", "sharpness")
    ends = [*short(gate.theta), ""]
    rows = [
        (str(k), s, c, e, t)
        for k, s, c, e, t in zip(
            range(1, fit.k + 1), short(gate.slope), short(gate.intercept), ends, [*short(gate.tau), ""],
            strict=True,
        )
    ]  # fmt: skip
    columns = [_aligned([row[j] for row in rows]) for j in range(len(head))]
    rows = list(zip(*columns, strict=True))
    widths = [max(len(row[j]) for row in (head, *rows)) for j in range(len(head))]
    for row in (head, *rows):
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _small(text: str) -> str:
    """Decimals with seven zeros or more behind the point as 5e-8, the same number of the language."""
    return _ZEROS.sub(lambda m: str(Decimal(m[0])).lower(), text)


def _aligned(cells: Sequence[str]) -> list[str]:
    """Cells of one width whose decimal points stand below one another."""
    right = max((len(cell.partition(".")[2]) + ("." in cell) for cell in cells), default=0)
    return [cell + " " * (right - len(cell.partition(".")[2]) - ("." in cell)) for cell in cells]


def entries(fit: Fit) -> Iterator[tuple[str, str]]:
    """Names and texts of what is known."""
    from gateproof.numerics.fits.result_json import best, down, finite_line, number, short, up

    error = fit.error
    size = up(error.hi, 10) if error.evidence != "sampled" and error.hi is not None else short(error)
    yield "error", f"{size} ({error.evidence}){_where(fit)}"
    if error.reason and error.evidence == "sampled":
        yield "", error.reason
    if len(fit.peaks) > 1:
        yield "peaks", _peaks(fit.peaks)
    if fit.lower_bound is not None and error.hi != 0:
        within = fit.optimal_within
        near = ""
        if within is not None and within < NEAR:
            share = "0.000001" if within < TINY else up(100 * within, 2)
            near = f": this one is within {share} % of the best possible"
        yield "best", f"{best(fit)}{near}"
    if fit.attained is False:
        most = "at most " if fit.infimum_is_bound else ""
        infimum = "" if fit.infimum is None else f"{most}{number(fit.infimum)} "
        yield "infimum", f"{infimum}is approached and not attained: parameters run away"
    yield "finite", finite_line(fit)
    if fit.outside is not None:
        yield "outside", _outside(fit)
    if fit.plain is not None:
        yield "sup", f"{short(fit.plain)} ({fit.plain.evidence})"
    if fit.tolerant is not None:
        yield "worst", _worst(fit.tolerant)
    if fit.rms is not None:
        yield "rms", f"{number(fit.rms, 4)} over {fit.measure}" if fit.measure else f"{number(fit.rms, 4)}"
    if fit.gates_min is not None:
        sign = "; a gate goes negative where sharpness differs" if fit.gates_min < 0 else ""
        yield "gates", f"smallest {down(fit.gates_min, 4)}{sign}"
    if fit.condition is not None:
        yield "condition", f"{number(fit.condition, 4)}"
    for step in fit.steps:
        yield "proof", step


def curve_table(rows: Sequence[Fit]) -> str:
    """Error against K."""
    from gateproof.numerics.fits.result_json import down, short, up

    head = ("K", "error", "evidence", "no gate below", "within", "status")
    cells: list[tuple[str, ...]] = [head]
    for fit in rows:
        within = fit.optimal_within
        cells.append((
            str(fit.k), short(fit.error), fit.error.evidence,
            "" if fit.lower_bound is None else down(fit.lower_bound, 6),
            "" if within is None else f"{up(100 * within, 2)} %",
            fit.status.value,
        ))  # fmt: skip
    widths = [max(len(row[j]) for row in cells) for j in range(len(head))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "".join(f"{line}\n" for line in lines)


def _branches(k: int) -> str:
    return "1 branch" if k == 1 else f"{k} branches"


def _where(fit: Fit) -> str:
    places = [f"{x:.6g}" for x in fit.argmax[:MOST]]
    sides = [f"{side}oo" for side in fit.error.at_infinity]
    said = [f"at x = {', '.join(places)}"] if places else []
    said += [f"towards {' and '.join(sides)}"] if sides else []
    return f" {', and '.join(said)}" if said else ""


def _peaks(peaks: Sequence[tuple[float, float]]) -> str:
    shown = [f"{'+' if e > 0 else '-'} at {x:.4g}" for x, e in peaks[:MOST]]
    more = f", and {len(peaks) - MOST} more" if len(peaks) > MOST else ""
    low, high = min(abs(e) for _, e in peaks), max(abs(e) for _, e in peaks)
    apart = 100 * (high - low) / high
    level = f"; the lowest is {100 - apart:.3g} % of the highest"
    if apart < 1:
        level = "; level" if apart < 1e-4 else f"; level to {apart:.1g} %"
    return f"{len(peaks)}: {', '.join(shown)}{more}{level}"


def _outside(fit: Fit) -> str:
    from gateproof.numerics.fits.result_json import short

    outside = fit.outside
    assert outside is not None
    if outside.evidence == "sampled":
        return f"the error on R is not known: {outside.reason}"
    if outside.hi is None:
        ends = [side for side, end in (("-", fit.target.lo), ("+", fit.target.hi)) if end is not None]
        lines = {side: _lineless(fit, side) for side in ends}
        if any(lines.values()):
            where = " and ".join(f"x -> {side.strip('+')}oo" for side in ends if lines[side])
            return f"the error on R is infinite: for {where} {fit.target.name:.60} approaches no line"
        return "the error on R is infinite: the slopes differ"
    return f"the error on all of R is {short(outside)} ({outside.evidence})"


def _lineless(fit: Fit, side: str) -> bool:
    """Whether a formula is known to approach no line at an infinite end."""
    from gateproof.theory.asymptotes import NoAsymptote, asymptote

    expr = fit.target.expr
    return expr is not None and isinstance(asymptote(expr, "x", side), NoAsymptote)


def _worst(found: Mapping[str, Any]) -> str:
    """The worst case under tolerances."""
    sizes = varied.sizes(found["tolerance"])
    if found["kind"] == "value":
        return f"{found['value']['hi']} over all gates within {sizes} (certified){varied.device(found)}"
    if found["kind"] == "infinite":
        return f"infinite over all gates within {sizes}: {found.get('reason', '')}"
    return f"not certified over all gates within {sizes}: {found.get('reason', '')}"


def _coloured(fit: Fit, style: Style) -> str:
    text = f"{fit.status.value}: {fit.message}"
    if not style.colour:
        return text
    good = fit.status.value in ("ok", "exact")
    return f"\x1b[{32 if good else 33}m{clean.line(text, 600)}\x1b[0m"


def _bold(text: str, style: Style) -> str:
    return f"\x1b[1m{clean.line(text, 600)}\x1b[0m" if style.colour else text
