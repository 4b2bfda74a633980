"""Fitted gates: what takes the place of an activation that no finite gate is.

One fit for each formula and number of branches in a process; the same gate then serves every place. Errors
are certified by ``numerics.fits`` over the whole line, and a treatment keeps the certificate, which
``gateproof verify`` checks.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import index
from typing import Any

from gateproof.kernels.convert.forms import Treatment, numbers_of, soft_form, treated
from gateproof.kernels.convert.kinds import KINDS, Kind
from gateproof.numerics.fits.request import RefusedFit, Request
from gateproof.numerics.fits.result import Error, Fit, Status
from gateproof.numerics.fits.result_json import enclosure
from gateproof.numerics.fits.solve import solve
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.numerics.fits.target_any import target_of

#: Branches where a mapping names none for a module.
DEFAULT, MOST = 2, 16


def read_branches(branches: Any, names: Iterable[str]) -> dict[str, int]:
    """K for each module by its name, from a number or from a mapping of name patterns to numbers.

    Patterns are those of ``fnmatch`` ('encoder.*', '*.act'); the first that matches counts, and modules that
    none matches have 2. Raises ValueError for a K outside of 1..16 and for a pattern that matches no module.
    """
    names = list(names)
    if not isinstance(branches, Mapping):
        k = _whole("branches", branches)
        return dict.fromkeys(names, k)
    found: dict[str, int] = {}
    for pattern, k in branches.items():
        if not isinstance(pattern, str):
            raise ValueError(f"convert: branches: patterns are names of modules, found {pattern!r:.40}")
        number = _whole(f"branches[{pattern!r}]", k)
        matched = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        if not matched:
            raise ValueError(
                f"convert: branches: no module is named {pattern!r}; names are as in model.named_modules()"
            )
        for name in matched:
            found.setdefault(name, number)
    return {name: found.get(name, DEFAULT) for name in names}


def _whole(what: str, value: Any) -> int:
    try:
        k = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        k = -1
    if not 1 <= k <= MOST:
        raise ValueError(f"convert: {what}: a whole number from 1 to {MOST}, found {value!r:.40}")
    return k


def fit_of(name: str, numbers: tuple[Any, ...], branches: int) -> Treatment:
    """The gate of a kind: the exact one where it is a logistic or hard gate, else the fitted one."""
    return fitted(KINDS[name](*numbers), branches)


@lru_cache(maxsize=1024)
def fitted(kind: Kind, branches: int, *, keep: bool = True) -> Treatment:
    """The same for a function with its numbers filled in.

    ``keep=False`` fits a difference gate also to what is exactly a gate of another algebra.
    """
    own = treated(kind)
    if own.how == "exact" and (keep or (own.form is not None and own.form[0] != "formula")):
        return own
    return _of_fit(kind, solve_once(kind.formula, branches), branches)


@lru_cache(maxsize=256)
def solve_once(formula: str, branches: int) -> Fit | str:
    """The minimax fit, or in words why there is none."""
    return solved(formula, Request(branches))


def solved(formula: str, request: Request, domain: str | None = None) -> Fit | str:
    """A fit, or in words why there is none."""
    try:
        return solve(target_of(formula, domain), request)
    except (RefusedTarget, RefusedFit) as refused:
        return str(refused)


def _of_fit(kind: Kind, found: Fit | str, branches: int) -> Treatment:
    if isinstance(found, str):
        return Treatment(
            "kept", f"no gate of {branches} branches is fitted to it: {found}", None, kind.formula
        )
    if found.status is Status.EXACT:
        return treated(kind)
    return treatment(kind, found, found.error, "minimax fit")


def treatment(kind: Kind, found: Fit, error: Error | None, how: str) -> Treatment:
    """A fit as what becomes of a nonlinearity; ``error`` is the supremum of |gate - function|."""
    if error is None or error.hi is None or error.certificate is None:
        why = "its error has no certificate" if error is None else error.reason or found.message
        return Treatment("kept", f"{how}: {why}", None, kind.formula)
    ends = enclosure(error)
    words = (
        f"{how} of {found.k} branches: {found.text}; differs from {kind.formula} by at most "
        f"{float(error.hi):.3g} ({error.evidence})"
    )
    gate = numbers_of(found.gate)
    return Treatment(
        "fit",
        words,
        soft_form(found.gate),
        kind.formula,
        gate,
        (ends["lo"], ends["hi"]),
        certificate=error.certificate,
    )
