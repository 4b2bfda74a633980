"""``--from fit.json``: the gate and the target that a fit's document names, as a formula of the language."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, arities, free_names, parse_expr
from gateproof.theory.formula.nodes import Expr, Extremum, Num
from gateproof.theory.gate import ALGEBRAS, Gate

LISTS = ("tau", "theta", "slope", "intercept")
#: Keys of the contract of ``gateproof fit`` that say something about the fit, not about the gate.
TOLERATED = (
    "error", "argmax", "rms", "lower_bound", "optimal_within", "attained", "gates_min", "condition",
    "status", "certificate", "formula", "evidence", "alternation", "measure", "infimum", "message", "notes",
    "error_outside", "error_sup", "steps", "lower_certificate", "tolerance", "quantised", "sharpness", "ends",
    "family", "monotone", "schema_version", "gateproof", "options", "infimum_is_bound", "finite",
    "target_formula",
)  # fmt: skip
KNOWN = ("k", *LISTS, "gates", "target", "domain", "norm", "weight", *TOLERATED)
MAX_BYTES = 64_000_000
MAX_CHARACTERS = 400
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?(\d+))?|[+-]?\d+/0*[1-9]\d*", re.ASCII)
_INFINITE = re.compile(r"[+]?(inf|infinity|\N{INFINITY})", re.IGNORECASE)


class _Written(str):
    """A JSON number as it is written."""


def given(path: str, target: str | None) -> tuple[str, dict[str, list[str]]]:
    """The formula ``sup(abs(tg(...) - target), x in domain)`` and the gate's numbers. Raises RefusedError."""
    document = _read(path)
    algebra, numbers = _gate(path, document)
    goal, formula = target if target is not None else document.get("target"), document.get("target_formula")
    if target is None and str(goal).lower().endswith(".json") and isinstance(formula, str):
        # The target was the gate of another fit, named by its file.
        goal = formula
    if goal is None:
        raise RefusedError(f"{path}: names no target; give one, as in: certify --from {path} gelu")
    if target is None and "target_formula" in document and formula is None and not _is_formula(goal):
        named = f"its target, {goal!s:.60}, was data or a function, not a formula"
        raise RefusedError(f"{path}: {named}; give one, as in: certify --from {path} gelu")
    if not isinstance(goal, str) or isinstance(goal, _Written):
        raise RefusedError(f"{path}: target must be text, a name or a formula in x")
    if document.get("norm") not in (None, "sup"):
        raise RefusedError(f"{path}: norm {document['norm']!r:.40}: only 'sup' can be certified; take it out")
    if document.get("weight") is not None:
        raise RefusedError(f"{path}: its error has a weight; take it out to certify the plain error")
    # Three branches or more of another algebra are written out: tg(..) stands for differences.
    gate = ", ".join(f"{key}=[{', '.join(numbers[key])}]" for key in LISTS)
    written = f"tg(x, {gate})" if algebra == "difference" else _made(path, algebra, numbers).text
    text = f"sup(abs({written} - ({target_formula(goal)})), {_domain(path, document.get('domain'))})"
    return text, numbers


def document_path(target: Any) -> str | None:
    """The path of a fit's document, which ends in .json; None for any other target."""
    path = str(target).strip() if isinstance(target, str | Path) else ""
    return path if path.lower().endswith(".json") else None


def gate_of(path: str) -> tuple[Gate, str]:
    """The gate of a fit's document, in exact numbers, and its domain as a set. Raises RefusedError."""
    document = _read(path)
    algebra, numbers = _gate(path, document)
    domain = _domain(path, document.get("domain")).strip().removeprefix("x in ")
    return _made(path, algebra, numbers), domain


def _made(path: str, algebra: str, numbers: Mapping[str, list[str]]) -> Gate:
    parts = {key: tuple(map(_exact, numbers[key])) for key in LISTS}
    if len(parts["tau"]) == 1 < len(parts["theta"]):
        parts["tau"] *= len(parts["theta"])
    try:
        return Gate(parts["tau"], parts["theta"], parts["slope"], parts["intercept"], algebra)
    except ValueError as error:
        raise RefusedError(f"{path}: {error}") from None


def _read(path: str) -> dict[str, Any]:
    from gateproof.proofs_check.files.claims_text import read_bytes

    data = read_bytes(Path(path), MAX_BYTES, "the JSON document of a fit")
    try:
        found = json.loads(
            data,
            parse_float=_Written,
            parse_int=_Written,
            parse_constant=_Written,
            object_pairs_hook=lambda pairs: _once(path, pairs),
        )
    except RefusedError:
        raise
    except (ValueError, RecursionError):
        raise RefusedError(f"{path}: is not JSON; the JSON document of a fit is expected") from None
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: is no object; the JSON document of a fit is expected")
    unknown = sorted(set(found) - set(KNOWN))
    if unknown:
        raise RefusedError(f"{path}: unknown key {unknown[0]!r:.40}; known are {', '.join(KNOWN)}")
    missing = [key for key in LISTS if key not in found]
    if missing:
        raise RefusedError(f"{path}: {missing[0]} is missing; a gate has {', '.join(LISTS)}")
    return found


def _once(path: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; JSON readers differ in which of two equal keys they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RefusedError(f"{path}: key {twice!r:.40} is given twice")
    return found


def _gate(path: str, document: Mapping[str, Any]) -> tuple[str, dict[str, list[str]]]:
    """The algebra, and the lists as texts of the language, checked against one another."""
    algebra = document.get("gates", "difference")
    if algebra not in ALGEBRAS or isinstance(algebra, _Written):
        raise RefusedError(f"{path}: gates {algebra!r:.40}: give one of {', '.join(ALGEBRAS)}")
    found = {key: _numbers(path, key, document[key]) for key in LISTS}
    branches = len(found["slope"])
    k = document.get("k", _Written(branches))
    if _whole(k) != branches or branches < 1:
        raise RefusedError(f"{path}: k is {k!s:.20} and there are {branches} slopes; they must agree")
    if len(found["intercept"]) != branches:
        raise RefusedError(
            f"{path}: {branches} slopes and {len(found['intercept'])} intercepts; give as many"
        )
    if len(found["theta"]) != branches - 1:
        raise RefusedError(
            f"{path}: {branches} branches have {branches - 1} thresholds, not {len(found['theta'])}"
        )
    if len(found["tau"]) not in {1, branches - 1}:
        raise RefusedError(
            f"{path}: {len(found['tau'])} sharpnesses; give one, or one for each of {branches - 1} thresholds"
        )
    theta = [_value(t) for t in found["theta"]]
    for place, (a, b) in enumerate(pairwise(theta), 1):
        if not a < b and algebra == "difference":
            raise RefusedError(
                f"{path}: threshold {place + 1} is not above threshold {place}; branches run left to right"
            )
    if any(t != "oo" and _value(t) <= 0 for t in found["tau"]):
        raise RefusedError(f"{path}: a sharpness is not positive; tau is above 0, or oo for a hard gate")
    return algebra, found


def _whole(value: Any) -> Fraction | None:
    """The number that is written, as 2, 2.0 or "2"; None for anything else."""
    text = value.strip() if isinstance(value, str) else ""
    return Fraction(text) if len(text) <= 20 and re.fullmatch(r"\d+(\.0+)?", text, re.ASCII) else None


def _numbers(path: str, key: str, values: Any) -> list[str]:
    values = [values] if key in ("tau", "theta") and not isinstance(values, list) else values
    if not isinstance(values, list):
        raise RefusedError(f"{path}: {key} must be a list of numbers")
    found = []
    for place, value in enumerate(values, 1):
        if key == "tau" and value == "oo" and not isinstance(value, _Written):
            found.append("oo")
            continue
        text = value.strip() if isinstance(value, str) else ""
        match = _NUMBER.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
        if match is None and not isinstance(value, _Written) and _is_closed(text):
            found.append(text)
            continue
        if match is None or len(match[3] or "") > 4:
            raise RefusedError(f"{path}: {key}[{place}] is {value!r:.40}; {_advice(key, text)}")
        found.append(text.removeprefix("+"))
    return found


def _advice(key: str, text: str) -> str:
    """What to write instead of a text that is no number of a gate."""
    if key == "tau" and _INFINITE.fullmatch(text):
        return 'a hard gate has "oo"'
    if len(text) > MAX_CHARACTERS:
        return f"it has {len(text)} characters, {MAX_CHARACTERS} are read"
    if _NUMBER.fullmatch(text):
        return "its exponent may have 4 digits"
    return 'give a finite number, as 0.25, "0.25", "1/4" or "pi/2"'


def _is_closed(text: str) -> bool:
    """Whether the text is a formula without names that has a finite value."""
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.points import enclosure
    from gateproof.theory.formula import expand

    if not text or len(text) > MAX_CHARACTERS:
        return False
    try:
        formula = parse_expr(text)
        if free_names(formula) or any(isinstance(node, Extremum) for node in formula.walk()):
            return False
        enclosure(expand(formula))
    except (FormulaError, NumericsError, RecursionError, NotImplementedError):
        return False
    return True


def _exact(text: str) -> Expr:
    """The number of a text that was checked."""
    if _NUMBER.fullmatch(text):
        return Num(Fraction(text))
    return parse_expr(text)


def _value(text: str) -> Fraction:
    """The number, or one very near to it."""
    from gateproof.numerics.points import enclosure
    from gateproof.theory.formula import expand

    if _NUMBER.fullmatch(text):
        return Fraction(text)
    low, high = enclosure(expand(parse_expr(text)))
    return (low + high) / 2


def target_formula(text: str) -> str:
    """A formula in x as it is written; the name of a function stands for it at x. Raises RefusedError."""
    name = text.strip()
    if name.isidentifier() and name in arities():
        name = f"{name}(x)"
    try:
        formula = parse_expr(name)
        free = sorted(free_names(formula))
    except FormulaError as error:
        raise RefusedError(f"the target {text!r:.60}: {error}") from None
    except RecursionError:
        raise RefusedError("the target is nested too deeply") from None
    if any(isinstance(node, Extremum) for node in formula.walk()):
        raise RefusedError(f"the target {text!r:.60}: TARGET is a formula in x, without sup or inf")
    if not set(free) <= {"x"}:
        other = next(n for n in free if n != "x")
        raise RefusedError(f"the target {text!r:.60}: {other!r} is not x; give a name or a formula in x")
    return name


def _is_formula(text: Any) -> bool:
    """Whether a document's target can be read as a formula in x."""
    try:
        return isinstance(text, str) and bool(target_formula(text))
    except RefusedError:
        return False


def _domain(path: str, value: Any) -> str:
    if value is None:
        return "x in R"
    text = value if isinstance(value, str) else ""
    text = text.strip() if text.strip().startswith("x in ") else f"x in {text.strip()}"
    try:
        node = parse_expr(f"sup(x, {text})")
        if isinstance(node, Extremum) and len(node.scope.binds) == 1 and not node.scope.conditions:
            return text
    except (FormulaError, RecursionError):
        pass
    raise RefusedError(f'{path}: domain {value!r:.60}: give a set, as "R", "[-8, 8]" or "x in [-8, 8]"')
