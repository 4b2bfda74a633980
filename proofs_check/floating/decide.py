"""Decide a floating-point claim: at every number where they are few, else by witnesses and by boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    NotYetError,
    Outcome,
    UndecidedError,
    VacuousError,
    ill_posed,
    undecided,
)
from gateproof.proofs_check.floating import exhaustive
from gateproof.proofs_check.floating.branch import Branching, Cover
from gateproof.proofs_check.floating.certificate import POINTS, checked
from gateproof.proofs_check.floating.program import UndefinedError
from gateproof.proofs_check.floating.search import Found, search
from gateproof.proofs_check.floating.space import Space, build
from gateproof.theory.formula import Claim, to_text
from gateproof.theory.formula.nodes import And, Fl, Not, Stmt

EXACT = ("exact", "mpfr")
#: A box of rounding errors takes as long as some boxes of balls.
_PER_BOX = 4


def decide_floating(claim: Claim, context: Context) -> Outcome:
    """Decide a written claim with a format."""
    try:
        return _decided(build(claim), claim.body, context)
    except VacuousError as error:
        return ill_posed(str(error))
    except NotYetError as error:
        return undecided(f"not implemented: {error}")
    except UndecidedError as error:
        return undecided(str(error))
    except UndefinedError as error:
        return ill_posed(str(error))


def _decided(space: Space, claim: Stmt, context: Context) -> Outcome:
    if space.count <= exhaustive.FEW:
        return _by_all(space, claim)
    found = search(space, claim, context.settings)
    if found.undefined is not None:
        return ill_posed(_where(space, found.undefined, found.reason), space.point(found.undefined))
    if found.fails is not None:
        return refuted(space, claim, found)
    cover = Branching(space, claim, max(context.settings.boxes // _PER_BOX, 100)).run()
    if cover.undefined is not None:
        return ill_posed(_where(space, cover.undefined, cover.reason), space.point(cover.undefined))
    if cover.fails is not None:
        return refuted(space, claim, replace(found, fails=cover.fails))
    if cover.tree is not None:
        return _by_boxes(space, claim, cover, found)
    if space.count <= exhaustive.MANY:
        return _by_all(space, claim)
    tried = f"none of {found.tried} points that were tried fails"
    return undecided(f"boxes: {cover.boxes} of them do not bound it, and {tried}")


def _by_boxes(space: Space, claim: Stmt, cover: Cover, found: Found) -> Outcome:
    """Boxes that cover the scope."""
    if cover.empty:
        raise VacuousError(f"no number of {space.format.name} meets the conditions: the statement is vacuous")
    if not found.met:
        raise UndecidedError("no point was found that meets the conditions")
    count = (cover.boxes + 1) // 2
    leaves = f"{count} boxes" if count > 1 else "one box"
    certificate = checked(space, claim, cover.tree)
    if certificate is None:
        raise UndecidedError("the checker did not confirm the bounds of the rounding errors")
    return Outcome(
        True,
        CERTIFIED,
        "bounds of rounding errors on boxes",
        EXACT,
        (f"the scope in {space.format.name} is cut into {leaves}, and on each of them bounds show it",),
        certificate=certificate,
    )


def _where(space: Space, at: tuple[int, ...], reason: str) -> str:
    point = ", ".join(f"{name} = {value}" for name, value in space.point(at).items())
    return f"{reason} at {point}" if point else reason


def _by_all(space: Space, claim: Stmt) -> Outcome:
    """All points, one after the other."""
    found = exhaustive.scan(space, claim)
    if found.undefined is not None:
        return ill_posed(_where(space, found.undefined, found.reason), space.point(found.undefined))
    if not found.met:
        raise VacuousError(f"no number of {space.format.name} meets the conditions: the statement is vacuous")
    if found.fails is not None:
        return refuted(space, claim, Found(found.met, met=True, fails=found.fails))
    certificate = checked(space, claim, POINTS)
    if certificate is None:
        raise UndecidedError("the checker did not confirm that it holds at every point")
    return Outcome(
        True,
        CERTIFIED,
        "every number of the format" if space.names else "exact evaluation",
        EXACT,
        (f"it holds at all {found.met} points of {space.format.name} in scope, each evaluated exactly",)
        if space.names
        else (f"it holds in {space.format.name}, evaluated exactly",),
        certificate=certificate,
    )


def refuted(space: Space, claim: Stmt, found: Found) -> Outcome:
    """A point at which it fails, seen by the checker too."""
    assert found.fails is not None
    there = replace(space, box=tuple((place, place) for place in found.fails), conditions=())
    denied = Not(claim)
    certificate = checked(there, And((*space.conditions, denied)) if space.conditions else denied, POINTS)
    if certificate is None:
        raise UndecidedError("the checker did not confirm the point at which it fails")
    point = space.point(found.fails)
    shown = ", ".join(f"{name} = {value}" for name, value in point.items())
    steps = (f"it fails at {shown}" if shown else "it fails", *computed_values(space, claim, found.fails))
    return Outcome(
        False, CERTIFIED, "exact witness", EXACT, steps, witness=point or None, certificate=certificate
    )


def computed_values(space: Space, claim: Stmt, at: tuple[int, ...]) -> Iterator[str]:
    """What each ``fl`` of the claim gives at a point."""
    judge = exhaustive.Judge(space, claim)
    for node in dict.fromkeys(n for n in claim.walk() if isinstance(n, Fl)):
        try:
            value = judge.program.computed(node.body)(judge.point(at))
        except UndefinedError:
            continue
        yield f"{to_text(node)} is {value}, about {float(value):.10g}"
