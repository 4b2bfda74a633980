"""``gateproof.fit``: a name, a formula, a file or a callable in; a fit that was re-checked out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, parse_expr
from gateproof.theory.formula.nodes import Extremum, IntervalSet, NamedSet
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

if TYPE_CHECKING:
    from gateproof.numerics.fits.request import Request
    from gateproof.numerics.fits.result import Fit
    from gateproof.numerics.fits.target import Target

Watch = Callable[[int, float], None]
Ends = tuple[Fraction | None, Fraction | None]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?|[+-]?\d+/0*[1-9]\d*", re.ASCII)


def fit(
    target: Any,
    k: int | None = None,
    *,
    tol: float | str | Fraction | None = None,
    sharpness: str = "shared",
    gates: str = "difference",
    ends: str | None = None,
    domain: str | tuple[Any, Any] | None = None,
    norm: str = "sup",
    mu: float | str | None = None,
    sigma: float | str | None = None,
    histogram: str | PathLike[str] | None = None,
    weight: str | None = None,
    family: str = "general",
    monotone: bool = False,
    max_coefficient: float | str | None = None,
    quantise: int | None = None,
    tolerance: Mapping[str, str] | None = None,
    continuous: bool = False,
    seed: int = 0,
) -> Fit:
    """The best threshold gate of ``k`` branches (2), or of the fewest whose error is at most ``tol``.

    ``target``: a name of the zoo or a formula in x, the path of a fit's JSON or of a measured curve (CSV,
    NPY), a function of NumPy arrays or of numbers, a torch module, or a pair of arrays. On R, or on
    ``domain="[-8, 8]"``. docs/fit.md says what the options mean. Raises RefusedError (a ValueError) for
    what cannot be fitted, with the reason.
    """
    options = {
        "branches": k, "tol": number("tol", tol), "sharpness": sharpness, "gates": gates, "ends": ends,
        "norm": norm, "mu": number("mu", mu), "sigma": number("sigma", sigma),
        "histogram": None if histogram is None else fspath(histogram), "weight": weight, "family": family,
        "monotone": monotone, "max_coefficient": number("max_coefficient", max_coefficient),
        "quantise": quantise, "tolerance": dict(tolerance or {}), "continuous": continuous, "seed": seed,
    }  # fmt: skip
    with _refusing():
        return solved(read_target(target, domain), request_of(options))


def request_of(options: Mapping[str, Any]) -> Request:
    """The request. Raises RefusedError."""
    from gateproof.numerics.fits.request import Request

    with _refusing():
        return Request(**options)


def solved(target: Target, request: Request, watch: Watch | None = None) -> Fit:
    """The fit, its certificates re-checked. Raises RefusedError."""
    from gateproof.numerics.fits.solve import solve

    with _refusing():
        return rechecked(solve(target, request, watch=watch))


def curve(target: Target, request: Request, watch: Watch | None = None) -> Iterator[Fit]:
    """The fits of 1, 2, .. branches, each re-checked. Raises RefusedError."""
    from gateproof.numerics.fits.solve import curve

    with _refusing():
        for found in curve(target, request, watch=watch):
            yield rechecked(found)


def rechecked(found: Fit) -> Fit:
    """The fit without what the independent checker rejects."""
    from gateproof.numerics.fits.result import Status
    from gateproof.proofs_check.checker import verify

    if found.error.certificate is not None:
        verdict = verify(found.error.certificate)
        if not verdict.accepted:
            reason = f"the certificate is rejected: {verdict.reason}"
            error = replace(found.error, evidence="sampled", certificate=None, reason=reason)
            status = Status.NOT_CERTIFIED
            found = replace(found, error=error, status=status, message=f"{status}: {reason}")
    if found.lower_certificate is not None and not verify(found.lower_certificate).accepted:
        found = replace(found, lower_bound=None, lower_certificate=None)
    return found


def read_target(target: Any, domain: str | tuple[Any, Any] | None = None) -> Target:
    """The target of a fit. Raises RefusedError."""
    ends = read_domain(domain)
    if isinstance(target, str):
        return _of_text(target, ends)
    raise RefusedError(f"{type(target).__name__} is no target; give a name or a formula in x, or a function")


def _of_text(text: str, ends: Ends) -> Target:
    from gateproof.numerics.backends.formula import formula
    from gateproof.numerics.fits.target import of_formula
    from gateproof.proofs_check.given_gate import target_formula
    from gateproof.theory.formula import expand

    name = target_formula(text)
    return of_formula(formula(name), expand(parse_expr(name)), *ends)


def read_domain(domain: str | tuple[Any, Any] | None) -> Ends:
    """The ends of a domain, None where infinite. Raises RefusedError."""
    if domain is None:
        return None, None
    if isinstance(domain, tuple | list):
        if len(domain) != 2:
            raise RefusedError("the domain has two ends, as in (-8, 8)")
        ends = [None if _is_infinite(e) else number("domain", e) for e in domain]
        return _ascending(ends[0], ends[1], str(tuple(domain)))
    text = domain.strip()
    said = text if text.startswith("x in ") else f"x in {text}"
    advice = f'domain {text!r:.60}: give an interval with rational ends, as "[-8, 8]", "[0, oo)" or "R"'
    try:
        node = parse_expr(f"sup(x, {said})")
    except (FormulaError, RecursionError):
        raise RefusedError(advice) from None
    if not isinstance(node, Extremum) or len(node.scope.binds) != 1 or node.scope.conditions:
        raise RefusedError(advice)
    within = node.scope.binds[0].within
    if isinstance(within, NamedSet) and within.name == "R":
        return None, None
    if not isinstance(within, IntervalSet):
        raise RefusedError(advice)
    found: list[Fraction | None] = []
    for end, infinite in ((within.lo, "-oo"), (within.hi, "oo")):
        value = None if to_text(end) == infinite else constant_value(end)
        if value is None and to_text(end) != infinite:
            raise RefusedError(advice)
        found.append(value)
    return _ascending(found[0], found[1], text)


def _ascending(lo: Fraction | None, hi: Fraction | None, text: str) -> Ends:
    if lo is not None and hi is not None and not lo < hi:
        raise RefusedError(f"domain {text:.60}: the left end must lie below the right one")
    return lo, hi


def _is_infinite(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value in (float("inf"), float("-inf")))


def number(name: str, value: Any) -> Fraction | None:
    """A decimal as the exact number that is written; a float is the decimal that it prints as."""
    if value is None or (isinstance(value, Fraction | int) and not isinstance(value, bool)):
        return None if value is None else Fraction(value)
    text = repr(value) if isinstance(value, float) else value.strip() if isinstance(value, str) else ""
    if len(text) > 100 or not _NUMBER.fullmatch(text):
        raise RefusedError(f"{name.replace('_', '-')} {value!r:.40}: give a number, as 0.25, 1e-3 or 1/4")
    return Fraction(text)


def code(found: Fit) -> int:
    """The exit code: 1 if stopped, 4 if a formula's error is not certified or the tolerance not reached."""
    from gateproof.numerics.fits.result import Status
    from gateproof.proofs_check.refused import FAILED, INCONCLUSIVE, OK

    if found.status is Status.INTERRUPTED:
        return FAILED
    return INCONCLUSIVE if found.status in (Status.NOT_CERTIFIED, Status.NOT_REACHED) else OK


class _refusing:  # noqa: N801 - read as a word after `with`
    """What the fits refuse is what the command refuses."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        if error is None or isinstance(error, RefusedError) or not isinstance(error, ValueError):
            return
        from gateproof.numerics.fits.request import RefusedFit
        from gateproof.numerics.fits.target import RefusedTarget

        if isinstance(error, RefusedFit | RefusedTarget | FormulaError):
            raise RefusedError(str(error)) from None
