"""What ``gateproof new`` can make: the name of the file, and its text from a template beside this one."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path

from gateproof.proofs_check.refused import RefusedError

FOLDER = Path(__file__).resolve().parent
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
#: Names that a kernel's file has already.
_TAKEN = ("gateproof", "mpmath", "torch", "exact", "FORMULA")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}", re.ASCII)


@dataclass(frozen=True)
class Kind:
    """A kind of file: what it is for, its template (none: it is computed), and the file that it becomes.

    ``needs`` says in words what NAME is, empty where there is none to give; ``then`` is what to do next.
    """

    says: str
    template: str
    file: Callable[[str], str]
    needs: str
    then: str
    default_formula: str = ""


KINDS = {
    "claims": Kind(
        "gateproof.toml: the claims of a project, checked by `gateproof check`",
        "claims.toml",
        lambda _: "gateproof.toml",
        "",
        "gateproof check",
    ),
    "claim": Kind(
        "ID.claims.toml: one claim with everything that one may say",
        "claim.toml",
        lambda name: f"{name}.claims.toml",
        "an id: letters, digits and . _ -, as silu.bound",
        "gateproof check {file}",
    ),
    "activation": Kind(
        "NAME.claims.toml: an activation of your own as a formula, with what should be known of it",
        "",
        lambda name: f"{name}.claims.toml",
        "a name: letters, digits and _, as myact",
        "gateproof check {file}",
        "x*tanh(softplus(x))",
    ),
    "kernel": Kind(
        "test_NAME_kernel.py: a fused operation from a formula, tested to the ulp",
        "kernel.py.txt",
        lambda name: f"test_{name}_kernel.py",
        "a name: letters, digits and _, as myact",
        "pytest {file}",
        "x*tanh(softplus(x))",
    ),
}


def made(kind: str, name: str, formula: str) -> tuple[str, str]:
    """The name and the text of the file. Raises RefusedError for a bad name or formula."""
    found = KINDS[kind]
    if found.needs:
        pattern = _ID if kind == "claim" else _NAME
        if not pattern.fullmatch(name):
            raise RefusedError(f"new {kind} {name!r:.60}: give {found.needs}")
    elif name:
        raise RefusedError(f"new {kind} takes no name, found {name!r:.60}")
    formula = formula or found.default_formula
    if found.default_formula:
        _check(kind, name, formula)
    if kind == "activation":
        from gateproof.proofs_check.new.activation import text as activation

        return found.file(name), activation(name, formula)
    text = (FOLDER / found.template).read_text(encoding="utf-8")
    for mark, value in (("@NAME@", name), ("@FORMULA@", formula)):
        text = text.replace(mark, value)
    return found.file(name), text


def _check(kind: str, name: str, formula: str) -> None:
    """Refuse what would not work: no formula in x, or a name that the language has already."""
    from gateproof.proofs_check.given_gate import target_formula
    from gateproof.theory.formula import FormulaError, define, parse_claim

    written = target_formula(formula)
    if written != formula.strip() or "\n" in formula or '"' in formula:
        raise RefusedError(f"new {kind}: {formula!r:.60} must be a formula in x on one line")
    try:
        parse_claim(f"for x in R: {name}(x) == {name}(x)", {name: define(name, written)})
    except FormulaError as error:
        raise RefusedError(f"new {kind} {name!r:.60}: no name for a function: {error}") from None
    if kind == "kernel" and (iskeyword(name) or hasattr(builtins, name) or name in _TAKEN):
        raise RefusedError(f"new kernel {name!r:.60}: the file needs that word itself; give another name")
