"""Statements of the claim language that follow from what is known of the zoo, and near misses.

Values are by hand (:mod:`zoo_facts`) or by mpmath from the textbook forms in :mod:`known_zoo`; nothing
comes from the engine. ``python -m zoo_statements > proofs_check/zoo_statements.txt`` (run in tests, with
../src and . on the path) writes the table that the tests decide. A line is a mark and a statement: T
holds, F fails, I is ill-posed, with ~ behind it where it is known not to be decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp
from known_zoo import AWAY, PERIODIC, WAVES, ZOO, Known
from zoo_facts import CALCULUS, FALLING, Calculus

#: Statements whose answer is a bracket are held to so many decimals.
DIGITS = 8
FOLDER = Path(__file__).parent / "proofs_check"


def _place(text: str) -> Any:
    """A kink's place."""
    if text.startswith("asinh(1)"):
        return mp.asinh(1) + (mp.mpf(1) / 2 if "1/2" in text else 0)
    place = Fraction(text)
    return mp.mpf(place.numerator) / place.denominator


def _d(value: Any, places: int = DIGITS) -> tuple[str, str]:
    """Decimals just below and above a value."""
    scaled = int(mp.floor(value * mp.mpf(10) ** places))
    return _text(scaled, places), _text(scaled + 1, places)


def _text(scaled: int, places: int) -> str:
    sign = "-" if scaled < 0 else ""
    digits = str(abs(scaled)).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _bracket(expr: str, value: Any) -> Iterator[str]:
    rounded = mp.nint(value * 10**DIGITS) / 10**DIGITS
    if abs(value - rounded) < mp.mpf(10) ** (-DIGITS - 4):
        exact = mp.nstr(rounded, 10)
        yield f"T abs({expr} - {exact}) < 1e-{DIGITS}"
        yield f"F {expr} > {exact} + 1e-{DIGITS}"
        return
    lo, hi = _d(value)
    yield f"T {lo} < {expr} < {hi}"
    yield f"F {expr} < {lo}"


def _differ(value: str) -> str:
    return "1/1000" if value == "0" else f"{value} + 1/1000"


def _zero_near(f: Any, start: str) -> Any:
    return mp.findroot(f, mp.mpf(start), tol=mp.mpf(10) ** -24, verify=False)


def _root(f: Any, start: str) -> Any:
    return _zero_near(lambda x: mp.diff(f, x), start)


def _extremum(call: str, f: Any, value: str, at: str, kind: str) -> Iterator[str]:
    sup, most, arg = (("sup", "max", "argmax"), ("inf", "min", "argmin"))[kind == "bottom"]
    on = f"{call}, x in R"
    if value in ("oo", "-oo"):
        yield f"T {sup}({on}) == {value}"
        yield f"F {sup}({on}) == 0"
        yield f"I {most}({on}) == 0"
        yield f"I {arg}({on}) == 0"
        return
    if value.startswith("~"):
        x = _root(f, value[1:])
        yield from _bracket(f"{sup}({on})", f(x))
        yield from _bracket(f"{most}({on})", f(x))
        printed = mp.nstr(x, 10, strip_zeros=False)
        yield f"T {arg}({on}) == {printed}~"
        off = mp.nstr(x * (1 + mp.mpf(10) ** -8), 10, strip_zeros=False)
        yield f"F {arg}({on}) == {off}~"
        return
    yield f"T {sup}({on}) == {value}"
    yield f"F {sup}({on}) == {_differ(value)}"
    if at == "no":
        yield f"I {most}({on}) == {value}"
        yield f"I {arg}({on}) == 0"
        strict = "<" if kind == "top" else ">"
        yield f"T for x in R: {call} {strict} {value}"
        return
    yield f"T {most}({on}) == {value}"
    loose = "<=" if kind == "top" else ">="
    yield f"T for x in R: {call} {loose} {value}"
    yield f"F for x in R: {call} {loose[0]} {value}"
    if at.startswith("many:"):
        yield f"F {arg}({on}) == {at[5:]}"
    else:
        yield f"T {arg}({on}) == {at}"
        yield f"F {arg}({on}) == {_differ(at)}"


def _ends(call: str, known: Known) -> Iterator[str]:
    for side, oo in (("-", "-oo"), ("+", "oo")):
        line, reason = known.line(side), known.left if side == "-" else known.right
        if line is not None:
            slope, intercept = line
            if slope == "0":
                yield f"T limit({call}, x, {oo}) == {intercept}"
                yield f"F limit({call}, x, {oo}) == {_differ(intercept)}"
            else:
                falls = slope.startswith("-") != (side == "-")
                yield f"T limit({call}, x, {oo}) == {'-oo' if falls else 'oo'}"
                yield f"F limit({call}, x, {oo}) == {'oo' if falls else '-oo'}"
            yield f"T limit({call}/x, x, {oo}) == {slope}"
            yield f"F limit({call}/x, x, {oo}) == {_differ(slope)}"
            yield f"T limit({call} - ({slope})*x, x, {oo}) == {intercept}"
            yield f"F limit({call} - ({slope})*x, x, {oo}) == {_differ(intercept)}"
        elif reason == PERIODIC:
            yield f"I limit({call}, x, {oo}) == 0"
            yield f"T limit({call}/x, x, {oo}) == 0"
        elif reason in (WAVES, AWAY):
            yield f"T limit({call}, x, {oo}) == {oo}"
            yield f"F limit({call}, x, {oo}) == 0"
            yield f"T limit({call}/x, x, {oo}) == {int(reason == WAVES)}"
            if reason == WAVES:
                yield f"I limit({call} - x, x, {oo}) == 0"


def _predicates(call: str, known: Known, c: Calculus) -> Iterator[str]:
    worst = min((order for _, order in known.kink_list()), default=9)
    facts = {
        "even": known.parity == "even", "odd": known.parity == "odd", "continuous": worst >= 0,
        "differentiable": worst >= 1, "increasing": c.up, "convex": c.cup, "decreasing": call in FALLING,
    }  # fmt: skip
    if call == "log_sigmoid(x)":
        yield f"T convex(-{call}, x in R)"
    for name, truth in facts.items():
        yield f"{'FT'[truth]} {name}({call}, x in R)"


def _without(points: list[str]) -> str:
    return "R \\ {" + ", ".join(points) + "}" if points else "R"


def _derivatives(call: str, known: Known, c: Calculus) -> Iterator[str]:
    for n, text, worst in ((1, c.slope, 0), (2, c.second, 1)):
        if not text:
            continue
        bad = [at for at, order in known.kink_list() if order <= worst]
        d = f"diff({call}, x)" if n == 1 else f"diff({call}, x, 2)"
        yield f"T for x in {_without(bad)}: {d} == {text}"
        yield f"F for x in {_without(bad)}: {d} == {text} + x/1000"
        if bad:
            yield f"I for x in R: {d} == {text}"
            yield f"I at({d}, x={bad[-1]}) == 0"


def _at_zero(call: str, c: Calculus) -> Iterator[str]:
    if c.taylor == "none":
        yield f"I taylor({call}, x, 0, 3) == x"
        return
    yield f"T taylor({call}, x, 0, 3) == {c.taylor}"
    yield f"F taylor({call}, x, 0, 3) == {c.taylor} + x**3/1000"
    yield f"T at({call}, x=0) == at({c.taylor}, x=0)"
    for n in (1, 2, 3):
        d = f"diff({call}, x, {n})"
        yield f"T at({d}, x=0) == at(diff({c.taylor}, x, {n}), x=0)"
        if n < 3:
            yield f"F at({d}, x=0) == at(diff({c.taylor}, x, {n}), x=0) + 1/1000"


def _zero_set(expr: str, f: Any, text: str, known: Known | None = None) -> Iterator[str]:
    bad = [] if known is None else [at for at, order in known.kink_list() if order <= 0]
    if text == "?":
        return
    if bad:
        yield f"I zeros({expr}, x in R) == 0"
        if text == "-":
            yield f"T for x in {_without(bad)}: {expr} != 0"
            yield f"I for x in R: {expr} != 0"
        return
    if text == "-":
        yield f"F zeros({expr}, x in R) == 0"
        yield f"T for x in R: {expr} != 0"
    elif text == "many":
        yield f"F zeros({expr}, x in R) == 0"
        yield f"F zeros({expr}, x in R) == {{-1, 1}}"
    elif "~" in text:
        roots = [_zero_near(f, t[1:]) if t[0] == "~" else mp.mpf(t) for t in text.split()]
        if len(roots) == 1:
            yield f"T zeros({expr}, x in R) == {mp.nstr(roots[0], 10, strip_zeros=False)}~"
        yield f"F zeros({expr}, x in R) == {{{', '.join(mp.nstr(r, 10) for r in roots)}}}"
        for r in roots:
            lo, hi = _d(r) if abs(r) > mp.mpf(10) ** -DIGITS else ("-0.00000001", "0.00000001")
            yield f"T exists x in ({lo}, {hi}): ({expr} == 0)"
    else:
        points = text.split()
        items = points[0] if len(points) == 1 else "{" + ", ".join(points) + "}"
        yield f"T zeros({expr}, x in R) == {items}"
        yield f"F zeros({expr}, x in R) == {_differ(points[0])}"


def _steepness(call: str, f: Any, known: Known, c: Calculus) -> Iterator[str]:
    other = call.replace("(x", "(y")
    two = f"for x in R, y in R: abs({call} - {other}) <="
    bad = [at for at, order in known.kink_list() if order <= 0]
    if not c.steepest:
        if any(order < 0 for _, order in known.kink_list()):
            yield f"F {two} 100*abs(x - y)"
        return
    sup = f"sup(abs(diff({call}, x)), x in {_without(bad)})"
    if c.steepest.startswith("~"):
        x = _zero_near(lambda t: mp.diff(f, t, 2), c.steepest[1:])
        value = abs(mp.diff(f, x))
        yield from _bracket(sup, value)
        lo, hi = _d(value, 6)
        yield f"T {two} {hi}*abs(x - y)"
        yield f"F {two} {lo}*abs(x - y)"
        return
    yield f"T {sup} == {c.steepest}"
    yield f"F {sup} == {_differ(c.steepest)}"
    yield f"T {two} ({c.steepest})*abs(x - y)"
    yield f"F {two} 0.999*({c.steepest})*abs(x - y)"


def _kinks(call: str, known: Known) -> Iterator[str]:
    f = known.value
    for text, order in known.kink_list():
        at = _place(text)
        h = mp.mpf(10) ** -18
        if order == -1:
            for side, sign in (("-", -1), ("+", 1)):
                yield from _bracket(f"limit({call}, x, {text}, {side})", f(at + sign * h))
            yield f"I limit({call}, x, {text}) == 0"
        else:
            yield from _bracket(f"limit({call}, x, {text})", f(at))
        if order == 0:
            for side, sign in (("-", -1), ("+", 1)):
                slope = sign * (f(at + sign * h) - f(at)) / h
                yield from _bracket(f"limit(diff({call}, x), x, {text}, {side})", slope)
            yield f"I limit(diff({call}, x), x, {text}) == 0"


def _means(call: str, known: Known) -> Iterator[str]:
    f = known.value
    marks = [_place(text) for text, _ in known.kink_list()]
    cuts = sorted({mp.mpf(k) for k in range(-14, 15, 2)} | set(marks))
    inner = call.replace("(x", "(z")
    weight = lambda z: mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)  # noqa: E731
    if known.parity == "odd":
        yield f"T gauss({inner}, z, q=1) == 0"
        yield f"F gauss({inner}, z, q=1) > 0"
    else:
        yield from _bracket(f"gauss({inner}, z, q=1)", mp.quad(lambda z: f(z) * weight(z), cuts))
    yield from _bracket(f"gauss({inner}**2, z, q=1)", mp.quad(lambda z: f(z) ** 2 * weight(z), cuts))
    unit = sorted({mp.mpf(0), mp.mpf(1)} | {m for m in marks if 0 < m < 1})
    yield from _bracket(f"integrate({call}, x, 0, 1)", mp.quad(f, unit))


def statements() -> Iterator[tuple[str, str]]:
    """Pairs of a call and a line, in order; hand-written lines under the name 'by hand'."""
    with mp.workdps(40):
        for call, c in CALCULUS.items():
            known = ZOO[call]
            f = known.value
            first, second = (lambda x: mp.diff(f, x)), (lambda x: mp.diff(f, x, 2))  # noqa: B023
            for lines in (
                _extremum(call, f, c.top, c.at_top, "top"),
                _extremum(call, f, c.bottom, c.at_bottom, "bottom"),
                _ends(call, known),
                _predicates(call, known, c),
                _derivatives(call, known, c),
                _at_zero(call, c),
                _zero_set(call, f, c.zeros),
                _zero_set(f"diff({call}, x)", first, c.flat, known),
                _zero_set(f"diff({call}, x, 2)", second, c.bends),
                _steepness(call, f, known, c),
                _kinks(call, known),
                _means(call, known),
            ):
                for line in lines:
                    yield call, line
    for line in (FOLDER / "zoo_by_hand.txt").read_text().splitlines():
        yield "by hand", line


def lines() -> Iterator[str]:
    """The table, line by line."""
    under = ""
    open_ = set((FOLDER / "zoo_undecided.txt").read_text().splitlines())
    for call, line in statements():
        if call != under:
            yield f"# {call}"
            under = call
        mark, statement = line.split(" ", 1)
        yield f"{mark}~ {statement}" if statement in open_ else line


if __name__ == "__main__":
    print("\n".join(lines()))
