"""Modules with decorated functions: their claims as claims, and the decision of one of them.

A module is imported only because a person names it, on the command line or in the settings; text of
claims is never run.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from gateproof.proofs_check.code.declared import KEPT, Declared
from gateproof.proofs_check.records import ClaimSpec, Decision, Reading, Settings
from gateproof.proofs_check.refused import RefusedError
from gateproof.proofs_check.selection import PREFIX
from gateproof.theory.formula import FormulaError

Function = Callable[..., Any]


def imported(name: str) -> ModuleType:
    """The module of a dotted name, from the working folder or from where Python looks.

    Raises RefusedError, with what went wrong in a line.
    """
    if not all(part.isidentifier() for part in name.split(".")):
        raise RefusedError(f"{PREFIX}{name}: no name of a module; give it as in module:package.activations")
    here = str(Path.cwd())
    if here not in sys.path:
        # Where the command runs comes last, so that nothing there stands in for an installed package.
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except Exception as error:
        text = (str(error).splitlines() or [""])[0]
        raise RefusedError(f"{PREFIX}{name}: {type(error).__name__}: {text[:300]}") from None


def decorated(module: ModuleType) -> Iterator[tuple[str, Function]]:
    """Decorated functions that a module itself defines, by qualified names; methods of classes too."""
    found: dict[int, tuple[str, Function]] = {}
    spaces: list[tuple[str, Any]] = [("", module)]
    for prefix, space in spaces:
        for name, value in list(vars(space).items()):
            if isinstance(value, staticmethod):
                value = value.__func__
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if isinstance(value, type) and not prefix:
                spaces.append((f"{name}.", value))
            elif getattr(value, KEPT, None):
                found.setdefault(id(value), (prefix + name, value))
    yield from found.values()


def claims_of(name: str) -> list[ClaimSpec]:
    """The claims of a module, one a function, a reading for each statement and type.

    Raises RefusedError for a module that cannot be imported, that has no claims, and with file and line for
    statements that cannot be read.
    """
    module = imported(name)
    functions = list(decorated(module))
    if not functions:
        raise RefusedError(f"{PREFIX}{name}: no function there is decorated with gateproof.claims")
    faults: list[str] = []
    found = [_claim(name, own, function, faults) for own, function in functions]
    if faults:
        raise RefusedError(faults)
    return found


def claim_of(name: str, own: str, function: Function) -> ClaimSpec:
    """The claim of one function. Raises RefusedError."""
    faults: list[str] = []
    found = _claim(name, own, function, faults)
    if faults:
        raise RefusedError(faults)
    return found


def _claim(name: str, own: str, function: Function, faults: list[str]) -> ClaimSpec:
    from gateproof.proofs_check.code.statement import read

    declared: tuple[Declared, ...] = getattr(function, KEPT)
    readings = []
    for place, one in enumerate(declared):
        try:
            read(one.statement, getattr(function, "__name__", own))
        except FormulaError as error:
            faults.append(f"{one.file}:{one.line}: {own}: {error}")
        within = f"within {one.ulps:g} ulp" + (f" or {one.floor:g}" if one.floor else "")
        readings.append(Reading(
            f"{one.statement} [{one.dtype}]", one.statement, pin="supported",
            meaning=f"in {one.dtype}, == {within}", code=(name, own, place),
        ))  # fmt: skip
    says = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0]
    first = declared[0]
    return ClaimSpec(
        f"{name}.{own}",
        tuple(readings),
        where=f"the code of {own}",
        says=says,
        file=first.file,
        line=first.line,
    )


def decide_reading(reading: Reading, settings: Settings) -> Decision:
    """The decision of a reading that points to code; the worker that this runs in imports the module."""
    from gateproof.proofs_check.code.judge import decide

    assert reading.code is not None
    name, own, place = reading.code
    value: Any = imported(name)
    for part in own.split("."):
        value = getattr(value, part)
    return decide(value, getattr(value, KEPT)[place], settings.seed)
