"""``gateproof.fit``: a name, a formula, a file or a callable in; a fit that was re-checked out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from operator import index
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from gateproof.numerics.written import written
from gateproof.proofs_check import given_gate
from gateproof.proofs_check.fitting_words import in_python
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError

if TYPE_CHECKING:
    from gateproof.numerics.fits.request import Request
    from gateproof.numerics.fits.result import Fit
    from gateproof.numerics.fits.target import Target

Watch = Callable[[int, float], None]


def fit(
    target: Any,
    k: int | None = None,
    *,
    tol: float | str | Fraction | None = None,
    sharpness: str | None = None,
    gates: str = "difference",
    ends: str | None = None,
    domain: Any = None,
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
    with in_python(), _refusing():
        options = _options(locals())
        return solved(read_target(target, domain, allow_code=True), request_of(options))


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of :func:`fit` as a request takes them. Raises RefusedError."""
    from gateproof.proofs_check.tolerances import read_sizes

    sizes, histogram = given["tolerance"], given["histogram"]
    if sizes is not None and not isinstance(sizes, Mapping):
        raise RefusedError(f"tolerance {sizes!r:.40}: give sizes by parameter, as {{'tau': '5%'}}")
    read_sizes("tolerance", sizes or {})
    if histogram is not None and not isinstance(histogram, str | PathLike):
        raise RefusedError(f"histogram {histogram!r:.40}: give the path of a file (docs/fit.md)")
    plain = ("gates", "ends", "norm", "weight", "family", "monotone", "continuous", "sharpness")
    return {
        **{name: given[name] for name in plain},
        **{name: number(name, given[name]) for name in ("tol", "mu", "sigma", "max_coefficient")},
        "branches": _whole(given["k"]), "quantise": _whole(given["quantise"]), "seed": _whole(given["seed"]),
        "tolerance": {str(key): str(size) for key, size in (sizes or {}).items()},
        "histogram": None if histogram is None else str(fspath(histogram)),
    }  # fmt: skip


def _whole(value: Any) -> Any:
    """A whole number, also one of NumPy's, as an int; anything else as it is."""
    if isinstance(value, bool):
        return value
    try:
        return index(value)
    except TypeError:
        return value


def request_of(options: Mapping[str, Any]) -> Request:
    """The request. Raises RefusedError."""
    from gateproof.numerics.fits.request import Request

    with _refusing():
        if options.get("sharpness", "shared") is None:
            return Request(**{**options, "sharpness": "shared"}, chosen=False)
        return Request(**options)


def solved(target: Target, request: Request, watch: Watch | None = None) -> Fit:
    """The fit, its certificates re-checked. Raises RefusedError."""
    from gateproof.numerics.fits.solve import solve

    if request.tolerance and target.expr is None:
        raise RefusedError("--tolerance is for formulas: nothing is certified for a callable or for data")
    with _refusing():
        found = rechecked(solve(target, request, watch=watch))
    return replace(found, tolerant=worst_case(found)) if request.tolerance else found


def curve(target: Target, request: Request, watch: Watch | None = None) -> Iterator[Fit]:
    """The fits of 1, 2, .. branches, each re-checked; with a tolerance up to the first within it.

    Numbers of branches of which no gate has the target's ends are left out. Raises RefusedError.
    """
    from gateproof.numerics.fits.result import Status
    from gateproof.numerics.fits.solve import curve

    tol, last = request.tol, None
    with _refusing():
        for found in curve(target, replace(request, tol=None, branches=request.most), watch=watch):
            if last is not None:
                yield last
            last = rechecked(found)
            if tol is not None and last.error.hi is not None and last.error.hi <= tol:
                tol = None
                break
    if last is not None and tol is not None and last.status is not Status.INTERRUPTED:
        last = replace(last, status=Status.NOT_REACHED, message=f"{Status.NOT_REACHED.text}; {last.message}")
    if last is not None:
        yield last


def worst_case(found: Fit) -> dict[str, Any]:
    """The certified worst case of all gates within the tolerances, or ``reason`` why there is none."""
    from gateproof.numerics.fits.result_json import texts
    from gateproof.proofs_check.certify_text import SURE, certify_text
    from gateproof.proofs_check.records import Settings
    from gateproof.proofs_check.tolerances import read_sizes
    from gateproof.theory.formula.printer import to_text

    gate, target, request = found.gate, found.target, found.request
    assert target.expr is not None
    sizes = {key: str(size) for key, size in read_sizes("--tolerance", request.tolerance).items()}
    if gate.branches > 2 and gate.algebra != "difference":
        return {"kind": None, "reason": f"{gate.algebra} gates are no tg(..)", "tolerance": sizes}
    lists = ", ".join(f"{key}=[{', '.join(texts(getattr(gate, key)))}]" for key in given_gate.LISTS)
    if gate.branches > 2 and len(set(gate.tau)) == 1 and request.sharpness == "shared":
        # One sharpness is one component, which varies as one.
        lists = lists.replace(f"tau=[{', '.join(texts(gate.tau))}]", f"tau={texts(gate.tau)[0]}", 1)
    text = f"sup(abs(tg(x, {lists}) - ({to_text(target.expr)})), x in {target.domain})"
    try:
        worst = certify_text(text, SURE, Settings(seed=request.seed), tolerance=request.tolerance)
    except RefusedError as error:
        # Sizes that this gate cannot be off by: the gate itself is not lost for that.
        return {"kind": None, "reason": str(error).removeprefix("--tolerance "), "tolerance": sizes}
    keys = ("kind", "value", "reason", "worst", "tolerance", "certificate")
    kept = {key: worst[key] for key in keys if key in worst}
    if kept["kind"] == "infinite" and (target.lo is None or target.hi is None):
        kept["reason"] = f"{str(kept.get('reason', '')).partition(';')[0]}; {_on_an_interval(found, text)}"
    return kept


def _on_an_interval(found: Fit, text: str) -> str:
    """The command that gives the worst case where it is finite."""
    from gateproof.numerics.fits.result_json import exact

    lo, hi = found.target.lo, found.target.hi
    least = min(Fraction(-8), hi - 8 if hi is not None else Fraction(0)) if lo is None else lo
    most = max(Fraction(8), least + 8) if hi is None else hi
    said = f"{text.rpartition(', x in ')[0]}, x in [{exact(least)}, {exact(most)}])"
    sizes = " ".join(
        f"--tolerance {key}={''.join(size.split())}" for key, size in found.request.tolerance.items()
    )
    return f"on an interval: gateproof certify '{said}' {sizes}"


def rechecked(found: Fit) -> Fit:
    """The fit without what the independent checker rejects."""
    from gateproof.numerics.fits.result import Status
    from gateproof.proofs_check.checker import verify

    certificate, reason = found.error.certificate, ""
    if certificate is not None:
        verdict = verify(certificate)
        reason = "" if verdict.accepted else f"the certificate is rejected: {verdict.reason}"
    elif found.error.evidence == "certified" and found.error.hi is not None:
        reason = "there is no certificate of its error"
    if reason:
        error = replace(found.error, evidence="sampled", certificate=None, reason=reason)
        status = Status.NOT_CERTIFIED
        found = replace(found, error=error, status=status, message=f"{status.text}: {reason}")
    plain, outside = found.plain, found.outside
    if plain is not None and plain.certificate is not None and not verify(plain.certificate).accepted:
        found = replace(found, plain=None)
    if outside is not None and outside.certificate is not None and not verify(outside.certificate).accepted:
        reason = "its certificate is rejected"
        found = replace(found, outside=replace(outside, evidence="sampled", certificate=None, reason=reason))
    if found.lower_certificate is not None and not verify(found.lower_certificate).accepted:
        found = replace(found, lower_bound=None, lower_certificate=None)
    return found


def read_target(target: Any, domain: Any = None, *, allow_code: bool = False) -> Target:
    """The target of a fit; a path that ends in .json is that of another fit. Raises RefusedError."""
    with _refusing():
        from gateproof.numerics.fits.target_any import target_of

        path = given_gate.document_path(target)
        if path is not None:
            return _of_document(path, domain)
        return target_of(target, domain, allow_code=allow_code)


def _of_document(path: str, domain: Any) -> Target:
    """The gate of a fit's document, on the document's domain where no other is given."""
    from gateproof.numerics.fits.target import RefusedTarget
    from gateproof.numerics.fits.target_any import target_of
    from gateproof.numerics.fits.target_domain import read_domain

    gate, own = given_gate.gate_of(path)
    try:
        where = read_domain(own)
    except (RefusedTarget, FormulaError) as error:
        raise RefusedError(f"{path}: {error}") from None
    read = replace(target_of(gate, where if domain is None else domain), name=path)
    if domain is None and (read.lo is not None or read.hi is not None):
        read = replace(read, notes=(f"the domain {read.domain} is that of {path}", *read.notes))
    return read


def number(name: str, value: Any) -> Fraction | None:
    """A decimal as the exact number that is written; a float, also one of NumPy's, as it is printed."""
    if value is None:
        return None
    found = written(value, 100)
    if found is None:
        raise RefusedError(f"{name.replace('_', '-')} {value!r:.40}: give a number, as 0.25, 1e-3 or 1/4")
    return found


def code(found: Fit) -> int:
    """The exit code: 1 if stopped, 4 if something asked for is not certified or the tolerance not reached."""
    from gateproof.numerics.fits.result import Status
    from gateproof.proofs_check.refused import FAILED, INCONCLUSIVE, OK

    if found.status is Status.INTERRUPTED:
        return FAILED
    worst = found.tolerant is not None and found.tolerant["kind"] is None
    return INCONCLUSIVE if worst or found.status in (Status.NOT_CERTIFIED, Status.NOT_REACHED) else OK


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
