"""1/kappa^2 beside mean field theory, for a terminal: readings, exponents with their intervals, rescaling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gateproof.proofs_check import clean

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.kappa_report import FittedLaw, KappaReport

#: Digits of floats that are right on every machine, and of an exponent's.
SURE, EXPONENT = 6, 3


def summary(report: KappaReport) -> str:
    """All of the report in columns."""
    lines = [f"1/kappa^2 as a depth law: {report.text}, sigma_b^2 = {report.sigma_b2:g}", ""]
    if report.point is None:
        lines += ["  there is no critical point at this sigma_b", ""]
    else:
        point = report.point
        at = f"sigma_w^2 = {_number(point.sigma_w2)}, q* = {_number(point.q)}"
        repels = " (which repels: no network reaches it)" if point.chi_parallel > 1 else ""
        lines += [f"  beta_q = {_number(point.beta_q)} at {at}{repels}", ""]
    lines += [*_readings(report), ""]
    if report.laws:
        lines += [*_exponents("copies, b from 1/2 to 2", report.laws, report), ""]
    if report.over:
        lines += [*_exponents("activations, by theta", report.over, report), ""]
    if report.rescalings:
        lines += [*_rescaled(report), ""]
    lines.append("  in floats, not certified")
    return clean.lines(lines)


def _readings(report: KappaReport) -> Iterator[str]:
    """What each theta gives."""
    predicted = {p.reading: p for p in report.predictions}
    rows = [["theta is", "at", "kappa", "1/kappa^2", "kappa^2 (q* + theta^2)/E phi''^2", "beta_q by it"]]
    for r in report.readings:
        if r.kappa is None:
            rows.append([r.reading, r.theta_text, f"- ({r.reason})"])
            continue
        found = predicted.get(r)
        more = ["-", "-"] if found is None else [_number(found.curvature_ratio), _number(found.beta_q)]
        rows.append([r.reading, r.theta_text, _number(r.kappa), _number(r.kappa**-2), *more])
    yield from _columns(rows)


def _exponents(over: str, laws: Sequence[FittedLaw], report: KappaReport) -> Iterator[str]:
    """The p of beta_q ~ kappa^p, with its interval."""
    held = {"fixed q": f"q = {report.q:g}", "fixed sigma_b": f"sigma_b^2 = {report.sigma_b2:g}"}
    level = next((law.fit.level for law in laws if law.fit is not None), 0.95)
    rows = [[f"beta_q ~ kappa^p over {over}", "held fixed", "p", f"{level:.0%} interval", "-2 in it", "of"]]
    for law in laws:
        row = [law.family, held.get(law.condition, law.condition)]
        if law.fit is None:
            rows.append([*row, "- (fewer than three kappa)"])
            continue
        ends = f"[{law.fit.lo:.{EXPONENT}f}, {law.fit.hi:.{EXPONENT}f}]"
        admits = "yes" if law.fit.admits(-2) else "no"
        rows.append([*row, f"{law.fit.value:.{EXPONENT}f}", ends, admits, str(law.fit.count)])
    yield from _columns(rows)


def _rescaled(report: KappaReport) -> Iterator[str]:
    """What a phi(b x) does."""
    rows = [[f"{report.a:g} phi({report.b:g} x) for phi", "before", "after", "factor"]]
    for r in report.rescalings:
        if r.before is None or r.after is None:
            rows.append([r.quantity, "- (no critical point)"])
            continue
        factor = "1 (unchanged)" if r.invariant else _number(r.after / r.before)
        rows.append([r.quantity, _number(r.before), _number(r.after), factor])
    yield from _columns(rows)


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as wide as their widest; a row that is short ends where it ends."""
    full = len(rows[0])
    widths = [max(len(row[j]) for row in rows if j < len(row) - (len(row) < full)) for j in range(full)]
    for row in rows:
        yield ("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False))).rstrip()


def _number(value: float) -> str:
    return f"{value:.{SURE}g}"
