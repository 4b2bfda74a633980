"""Suprema on [-8, 8] beside Sollya's and alkahest's, with equal digits: ``python -m bench.against_sollya``.

Times are CPU times inside of one process each, medians of runs that alternate. Sollya's settings are the
fastest of those tried that reach the digits. Writes ``scores.json`` beside this file, and
``docs/benchmarks.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import mpmath as mp
from bench.common import Sollya, SollyaError, cpu_of, machine, median
from bench.others import Alkahest, to_sollya
from bench.page import page
from random_formulas import by_mpmath, mpf

import gateproof
from gateproof.numerics.certify import certify
from gateproof.numerics.extrema import extremum
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Expr

RECORD = Path(__file__).with_name("scores.json")
FUNCTIONS = (
    "x*sigmoid(1.702*x) - gelu(x)",
    "gelu_tanh(x) - gelu(x)",
    "x*(0.5*sigmoid(1.5*(x + 0.2)) + 0.25*sigmoid(2.5*x) + 0.25*sigmoid(1.2*(x - 0.3))) - gelu(x)",
    "softplus(x) - x*sigmoid(2*x)",
    "sigmoid(3*x) - sigmoid(x)",
    "silu(x)",
    "gelu(x)",
    "mish(x)",
    "tanh(x)*sech(x)",
    "x*exp(-x**2)",
)
LO, HI = Fraction(-8), Fraction(8)
DIGITS = (8, 12)
PRECISIONS, DIAMETERS = (53, 80, 165), [Fraction(1, 10**k) for k in range(3, 15)]
RUNS, SLOW_RUNS, MOST_SECONDS = 7, 3, 2
POINTS = tuple(Fraction(n, 16) for n in (-125, -37, -3, 19, 88))
Pair = tuple[Fraction, Fraction]


def reaches(found: Pair, digits: int) -> bool:
    """Whether an enclosure of a positive number has a relative width of at most 10**-digits."""
    lo, hi = found
    return 0 < lo <= hi <= lo * (1 + Fraction(1, 10**digits))


def same(text: str, core: Expr, sollya: Sollya, other: Alkahest | None) -> None:
    """Raise where another side's formula is not ours, by values at five points."""
    with mp.workdps(40):
        for x in POINTS:
            value, slack = by_mpmath(core, mpf(x)), mp.mpf(10) ** -25
            sollya.ask(f"prec=165!; f = {to_sollya(core)};")
            (theirs,) = sollya.numbers(f"print(round(f({x.numerator}/{x.denominator}), 140, RN));")
            if abs(mpf(theirs) - value) > slack:
                raise AssertionError(f"Sollya has another function for {text}")
            if other is not None:
                lo, hi = other.range_of(other.of(core), float(x), float(x), 1e-9)
                if not mpf(lo) - slack <= value <= mpf(hi) + slack or hi - lo > Fraction(1, 10**9):
                    raise AssertionError(f"alkahest has another function for {text}")


def ask(sollya: Sollya, call: str) -> tuple[float, Pair]:
    """CPU seconds and the enclosure of a call of infnorm or supnorm."""
    seconds = sollya.timed(f"r = {call};")
    found = sollya.numbers("print(inf(r)); print(sup(r));")
    if len(found) != 2:
        raise SollyaError("no interval")
    return seconds, (found[0], found[1])


def fastest(sollya: Sollya, formula: str, digits: int) -> tuple[str, str] | str:
    """The settings and call of infnorm that reach the digits soonest, or why none does."""
    tried: list[tuple[float, str]] = []
    said = "too wide"
    for bits in PRECISIONS:
        for diameter in DIAMETERS:
            settings = f"prec={bits}!; diam={diameter.numerator}/{diameter.denominator}!;"
            try:
                sollya.ask(formula + settings)
                seconds, found = ask(sollya, "infnorm(f, [-8;8])")
            except SollyaError as error:
                said = str(error)
                break
            if reaches(found, digits):
                tried.append((seconds, settings))
                break
    return (min(tried)[1], "infnorm(f, [-8;8])") if tried else said


def row(text: str, digits: int, sollya: Sollya, other: Alkahest | None) -> dict[str, Any]:
    """All times for one function and so many digits."""
    core, whole = expand(parse_expr(text)), expand(parse_expr(f"abs({text})"))
    asked = f"sup(abs({text}), x in [-8,8])"
    formula = f"f = {to_sollya(core)};"
    limit = f"2^(-{int(digits * 3.3220) + 1})"
    calls: dict[str, tuple[str, str] | str] = {
        "infnorm": fastest(sollya, formula, digits),
        "supnorm": ("prec=80!; diam=1e-5!;", f"supnorm(0, f, [-8;8], absolute, {limit})"),
    }
    times: dict[str, list[float]] = {}
    answers: dict[str, Pair] = {}
    notes: dict[str, str] = {name: call for name, call in calls.items() if isinstance(call, str)}

    def ours(name: str, work: Callable[[], Any]) -> Any:
        seconds, found = cpu_of(work)
        times.setdefault(name, []).append(seconds)
        return found

    def theirs(name: str, work: Callable[[], tuple[float, Pair]]) -> None:
        if name in notes:
            return
        try:
            seconds, found = work()
        except (SollyaError, RuntimeError, ValueError, ArithmeticError) as error:
            notes[name] = str(error).splitlines()[0][:120]
            times.pop(name, None)
            return
        times.setdefault(name, []).append(seconds)
        answers[name] = found

    def both() -> list[Any]:
        return [
            extremum(core, "x", LO, HI, which, digits, with_certificate=False) for which in ("sup", "inf")
        ]

    def again(name: str, run: int) -> bool:
        """Fewer runs of what takes seconds."""
        return name == "infnorm" or (run < SLOW_RUNS and sum(times.get(name, [])) < MOST_SECONDS)

    certify(parse_expr(asked), digits)  # modules are loaded when they are first needed
    for run in range(RUNS):
        bare = ours("ours", lambda: extremum(whole, "x", LO, HI, digits=digits, with_certificate=False))
        certified = ours("certify", lambda: certify(parse_expr(asked), digits))
        document = certified["certificate"]
        verdict = ours("check", partial(verify, document))
        ours("range", both)
        if not (verdict.accepted and certified["digits"] >= digits and bare.digits >= digits):
            raise AssertionError(f"{asked}: {verdict.reason or certified.get('reason')}")
        for name, call in calls.items():
            if name not in notes and not isinstance(call, str) and again(name, run):
                sollya.ask(formula + call[0])  # it may be a new process
                theirs(name, partial(ask, sollya, call[1]))
        if other is not None and again("alkahest", run):
            theirs("alkahest", partial(_range, other, core, digits))
    value = Fraction(certified["value"]["lo"]), Fraction(certified["value"]["hi"])
    for name, found in answers.items():
        if name == "alkahest":
            end = max(-found[0], found[1])
            found = end * (1 - Fraction(2, 10**digits)), end
        if found[0] > value[1] or found[1] < value[0]:
            raise AssertionError(f"{name} has another supremum for {text}: {[*map(float, found)]}")
        if name == "supnorm" and not reaches(found, digits):
            notes[name] = "fewer digits"
    return {
        "function": text,
        "digits": digits,
        "supremum": certified["value"]["lo"],
        "ms": {name: round(1e3 * found, 3) for name, t in times.items() if (found := median(t)) is not None},
        "notes": notes,
        "settings": {name: call[0] for name, call in calls.items() if not isinstance(call, str)},
    }


def _range(other: Alkahest, core: Expr, digits: int) -> tuple[float, Pair]:
    expr = other.of(core)
    size = max(map(abs, other.range_of(expr, -8.0, 8.0, 1e-3)))
    tolerance = float(size / 10**digits)
    return cpu_of(lambda: other.range_of(expr, -8.0, 8.0, tolerance), cold=False)


def beyond(sollya: Sollya, other: Alkahest | None) -> list[dict[str, str]]:
    """What each says where a function has a kink, and on all of R: as it is."""
    found = []
    for text, domain, interval in (
        ("silu(x) - relu(x)", "[-8,8]", "[-8;8]"),
        ("x*sigmoid(1.702*x) - gelu(x)", "R", "[-infty;infty]"),
    ):
        core = expand(parse_expr(text))
        asked = f"sup(abs({text}), x in {domain})"
        gateproof.certify(asked, 8)
        seconds, answer = cpu_of(lambda asked=asked: gateproof.certify(asked, 8))  # type: ignore[misc]
        entry = {
            "asked": asked,
            "ours": f"{answer['value']['lo']} in {1e3 * seconds:.1f} ms, with a certificate",
        }
        for name, call in (
            ("infnorm", f"infnorm(f, {interval})"),
            ("supnorm", f"supnorm(0, f, {interval}, absolute, 2^(-27))"),
        ):
            try:
                sollya.ask(f"prec=80!; diam=1e-5!; f = {to_sollya(core)};")
                sollya.ask(f"r = {call};")
                said = sollya.ask("display=decimal!; print(r); display=dyadic!;")
            except SollyaError as error:
                said = str(error)
            entry[name] = " ".join(said.split())[:120]
        if other is None:
            entry["alkahest"] = "not installed"
        else:
            end = 8.0 if domain != "R" else float("inf")
            try:
                lo, hi = other.range_of(other.of(core), -end, end, 1e-9)
                entry["alkahest"] = f"[{float(lo)}, {float(hi)}]"
            except Exception as error:
                entry["alkahest"] = str(error).splitlines()[0][:120]
        found.append(entry)
    return found


def main() -> None:
    """Measure, write the record and the page."""
    sollya = Sollya()
    try:
        other = Alkahest()
    except ImportError:
        other = None
    rows = []
    try:
        for text in FUNCTIONS:
            same(text, expand(parse_expr(text)), sollya, other)
            for digits in DIGITS:
                rows.append(row(text, digits, sollya, other))
                print(json.dumps(rows[-1]["ms"]), text, rows[-1]["notes"] or "")
        record = {"machine": machine(), "rows": rows, "beyond": beyond(sollya, other)}
    finally:
        sollya.close()
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    Path("docs/benchmarks.md").write_text(page(record))


if __name__ == "__main__":
    main()
