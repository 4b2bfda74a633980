"""Targets in the language of the claims: a name, or a formula in x."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction

import numpy as np

from gateproof.numerics.backends import prepare
from gateproof.numerics.backends.formula import Formula, formula
from gateproof.numerics.fits.target import UNKNOWN, RefusedTarget, Target, of_formula
from gateproof.numerics.fits.target_domain import Domain
from gateproof.numerics.fits.target_ends import with_limits
from gateproof.numerics.fits.target_window import sample, window_notes
from gateproof.numerics.points import enclosure
from gateproof.theory.asymptotes import PERIODIC, Asymptote, NoAsymptote, asymptote
from gateproof.theory.formula import FormulaError, arities, parse_expr, substitute, to_text
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.gate import Gate
from gateproof.theory.undefined_parts import Part, undefined_parts

WITHOUT = "give an interval that leaves it out"


def of_text(text: str, domain: Domain | None = None) -> Target:
    """The target of a name ('gelu') or a formula in x. Raises RefusedTarget.

    Without a domain it is R, or the half line on which the formula has values (a note says so); R and half
    lines are refused where the function approaches no line.
    """
    return of_language(_formula(text), domain)


def of_gate(gate: Gate, domain: Domain | None = None, name: str = "the given gate") -> Target:
    """The target that is itself a gate with exact numbers."""
    whole = gate.expression()
    # Built from the expression: the text of many branches is longer than what is read.
    given = Formula(name, whole, ("x",), {}, prepare.core(whole))
    left, right = (Asymptote(gate.slope[k], gate.intercept[k]) for k in (0, -1))
    return replace(_checked(given, whole, domain, (left, right)), kind="gate")


def of_language(given: Formula, domain: Domain | None = None) -> Target:
    """The target of a formula whose names beside x have values."""
    for name in given.names:
        if name != "x" and name not in given.parameters:
            raise RefusedTarget(f"the target {given.text!r:.60}: {name!r} is not x; {_advice(name)}")
    fixed = formula(given.text) if not given.parameters else _without_names(given)
    try:
        core = prepare.core(parse_expr(fixed.text))
    except (FormulaError, RecursionError) as error:
        raise RefusedTarget(f"the target {given.text!r:.60}: {error}") from None
    notes: list[str] = []
    if domain is not None and any(domain.open):
        fixed, core, notes = with_limits(fixed, core, domain)
    target = _checked(fixed, core, domain)
    return replace(target, name=given.text, notes=(*notes, *target.notes))


def _checked(
    fixed: Formula, core: Expr, domain: Domain | None, lines: tuple[Asymptote, Asymptote] | None = None
) -> Target:
    lo, hi, notes = _domain(fixed, core, domain)
    target = of_formula(fixed, core, lo, hi, lines)
    for line, end, why, side in (
        (target.left, lo, target.why[0], "-"),
        (target.right, hi, target.why[1], ""),
    ):
        if end is None and line is None:
            raise RefusedTarget(_no_line(target, core, side, why))
    _must_be_finite(target)
    left_out = (False, False) if domain is None else domain.open
    return replace(target, notes=(*notes, *window_notes(target)), left_out=left_out)


def _formula(text: str) -> Formula:
    written = text.strip()
    if not written:
        raise RefusedTarget("the target is empty; give a name, as gelu, or a formula in x")
    if written.isidentifier() and written != "x":
        written = _called(written)
    try:
        return formula(written)
    except FormulaError as error:
        raise RefusedTarget(f"the target {text.strip()!r:.60}: {error}") from None
    except RecursionError:
        raise RefusedTarget("the target is nested too deeply") from None


def _called(name: str) -> str:
    """A bare name of a function of one number stands for it at x."""
    known = arities()
    if name in known:
        least, most = known[name]
        if least > 1 or (most is not None and most < 1):
            raise RefusedTarget(
                f"the target {name!r}: it takes {least} arguments; write it out, as {name}(x, ..)"
            )
        return f"{name}(x)"
    if name in ("pi", "e", "E"):
        return name
    near = get_close_matches(name.lower(), [n for n, (least, _) in known.items() if least <= 1], 1, 0.75)
    hint = f"; did you mean {near[0]!r}?" if near else "; give a name, as gelu, or a formula in x"
    raise RefusedTarget(f"the target {name!r:.60} is not known{hint}")


def _advice(name: str) -> str:
    if len(name) == 1:
        return "the variable is x, and all other names need a value"
    near = get_close_matches(name.lower(), arities(), 1, 0.75)
    return f"did you mean {near[0]!r}?" if near else "give a name, as gelu, or a formula in x"


def _without_names(given: Formula) -> Formula:
    values = {name: parse_expr(text) for name, text in given.parameters.items()}
    return formula(to_text(substitute(parse_expr(given.text), values)))


# --- where it is defined -------------------------------------------------------


def _domain(
    fixed: Formula, core: Expr, domain: Domain | None
) -> tuple[Fraction | None, Fraction | None, list[str]]:
    """The ends, and what is to be said of them."""
    missing = undefined_parts(core, "x") or ()
    if domain is not None:
        for part in missing:
            _refuse_inside(fixed.text, part, domain)
        return domain.lo, domain.hi, list(domain.notes)
    lo: Fraction | None = None
    hi: Fraction | None = None
    for part in missing:
        if part.lo is None and part.hi is not None:
            lo = _inner_end(fixed, part.hi, part.hi_in)
        elif part.hi is None and part.lo is not None:
            hi = _inner_end(fixed, part.lo, part.lo_in)
        else:
            raise RefusedTarget(f"{fixed.text:.60} has no value {_where(part)}: {WITHOUT}")
    notes = []
    if lo is not None or hi is not None:
        where = f"x >= {lo}" if hi is None else f"x <= {hi}" if lo is None else f"{lo} <= x <= {hi}"
        notes.append(f"{fixed.text:.60} has values for {where} only, and is fitted there")
    return lo, hi, notes


def _inner_end(fixed: Formula, end: Expr, missing: bool) -> Fraction:
    """The end of a natural half line, which must belong to it."""
    lo, hi = enclosure(end)
    if missing or lo != hi:
        raise RefusedTarget(
            f"{fixed.text:.60} has values on one side of x = {to_text(end)} only, and none there: give an "
            'interval on that side, as --domain "[1, 8]"'
        )
    return lo


def _where(part: Part) -> str:
    if part.lo is None or part.hi is None:
        return "on half of the line" if part.lo is not part.hi else "anywhere"
    if part.lo == part.hi:
        return f"at x = {to_text(part.lo)}"
    return f"between x = {to_text(part.lo)} and {to_text(part.hi)}"


def _refuse_inside(name: str, part: Part, domain: Domain) -> None:
    """Refuse a domain that meets where there is no value."""
    low = None if part.lo is None else enclosure(part.lo)[1]
    high = None if part.hi is None else enclosure(part.hi)[0]
    below = (
        domain.hi is not None
        and low is not None
        and (domain.hi < low or (domain.hi == low and not part.lo_in))
    )
    above = (
        domain.lo is not None
        and high is not None
        and (domain.lo > high or (domain.lo == high and not part.hi_in))
    )
    if not below and not above:
        raise RefusedTarget(f"{name:.60} has no value {_where_of(part)}: {WITHOUT}")


def _where_of(part: Part) -> str:
    if part.lo is None and part.hi is not None:
        return f"for x {'<=' if part.hi_in else '<'} {to_text(part.hi)}"
    if part.hi is None and part.lo is not None:
        return f"for x {'>=' if part.lo_in else '>'} {to_text(part.lo)}"
    return _where(part)


def _must_be_finite(target: Target) -> None:
    """Values in doubles at a sample of the domain."""
    x = sample(target.lo, target.hi, target.kinks)
    with np.errstate(all="ignore"):
        y = target.function(x)
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        at = float(x[bad[np.argmin(np.abs(x[bad]))]])
        raise RefusedTarget(f"{target.name:.60} has no finite value in doubles at x = {at:.6g}: {WITHOUT}")


# --- where it has no line ------------------------------------------------------


def _no_line(target: Target, core: Expr, side: str, why: str) -> str:
    found = asymptote(core, "x", side or "+")
    like = f", like {found.like}" if isinstance(found, NoAsymptote) and found.like else ""
    lo, hi = target.lo, target.hi
    place = "R" if lo is None and hi is None else "a half line"
    span = f"[{lo}, {lo + 8}]" if lo is not None else f"[{hi - 8}, {hi}]" if hi is not None else "[-8, 8]"
    words = {PERIODIC: "it is periodic", UNKNOWN: "no line that it approaches was found"}
    what = words.get(why, f"it {why}") + like
    return (
        f"{target.name:.60} cannot be fitted on {place}: for x -> {side}oo {what}, and a gate approaches "
        f'a line there; give an interval, as --domain "{span}"'
    )
