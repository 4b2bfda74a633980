"""Certificates of long searches: the committed one is proved again, leaf by leaf, and nothing is searched.

Known is the lower bound over gates of three branches with two sharpnesses
(:mod:`gateproof.numerics.lower_bound_pair_certificate`). A certificate proves one statement,
written as :func:`statement` writes it; a reading must state just that.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from gateproof.proofs_check.records import Controls, Decision, Reading, Settings
from gateproof.theory.formula import expand_node, parse_claim, parse_expr
from gateproof.theory.formula.apart import apart
from gateproof.theory.formula.nodes import App, Claim, Num, Rel
from gateproof.theory.formula.scopes import free_names

MAX_FILE, MAX_BYTES = 8_000_000, 64_000_000
#: The free parameters of the gate in :func:`statement`.
GATE = ("t", "u", "h", "k", "a", "b", "m", "c")
#: What reading and checking a file that is no certificate may raise.
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError, EOFError)
METHOD = "certificate of a search, every leaf of it proved again"


def fingerprint(path: Path) -> tuple[str, str] | None:
    """The file and its sha256; None where there is none."""
    try:
        return str(path), hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def read(path: Path) -> dict[str, Any]:
    """The document of a file. Raises ValueError, OSError."""
    with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError("it is too large")
    found = json.loads(data)
    if not isinstance(found, dict) or found.get("family", {}).get("sharpness") != "separate":
        raise ValueError("it is no certificate of a kind that is known here")
    # A name of the gate's in the formula would be bound by the infimum.
    names = free_names(parse_expr(found["text"]))
    if found["variable"] in GATE or not names <= {found["variable"]}:
        raise ValueError("its formula has other names than its variable")
    return found


def statement(document: dict[str, Any]) -> str:
    """What the certificate proves: the outer slopes are the asymptotes', all else is free."""
    family, text = document["family"], document["text"]
    t, u, h, k, a, b, m, c = GATE
    ends = f"{Fraction(family['left']['slope'])}, {a}, {Fraction(family['right']['slope'])}"
    x = document["variable"]
    gate = f"tg({x}, tau=[{t}, {u}], theta=[{h}, {k}], slope=[{ends}], intercept=[{b}, {m}, {c}])"
    free = ", ".join([f"{t} > 0", f"{u} > 0", *(f"{name} in R" for name in (h, k, a, b, m, c))])
    return f"inf(sup(abs({gate} - ({text})), {x} in R), {free}) >= {document['bound']}"


def follows(proved: str, stated: str) -> bool:
    """Whether a statement is the proved one, with that lower bound or a lower one."""
    sides = []
    for text in (proved, stated):
        claim = expand_node(apart(parse_claim(text, {})), {})
        assert isinstance(claim, Claim)
        relation = claim.body
        if claim.scope.binds or not isinstance(relation, Rel) or relation.ops != (">=",):
            return False
        left, right = relation.terms
        match right:
            case Num(value=value):
                sides.append((left, value))
            case App(head="div", args=(Num(value=over), Num(value=under))):
                sides.append((left, over / under))
            case _:
                return False
    (known, bound), (asked, wanted) = sides
    return known == asked and wanted <= bound


def decide(reading: Reading, settings: Settings) -> Decision:  # noqa: ARG001 - one signature for all deciders
    """Check the certificate of a reading, that it proves the reading, and that a wrong one is rejected."""
    from gateproof.numerics.lower_bound_pair_certificate import check, conclusion

    assert reading.proof is not None
    path, fixed = Path(reading.proof[0]), reading.proof[1]
    try:
        if path.stat().st_size > MAX_FILE:
            raise ValueError("it is too large")
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != fixed:
            return Decision("inconclusive", reason="the certificate was changed meanwhile")
        document = read(path)
        if not follows(statement(document), reading.formal):
            return Decision("inconclusive", reason=f"the certificate is about {statement(document)}")
        missed = tuple(name for name, wrong in damaged(document) if check(wrong) is None)
        wrong = check(document)
    except UNREADABLE as error:
        return Decision("inconclusive", reason=f"no certificate can be read: {error}")
    controls = Controls(2, 2 - len(missed), missed)
    if wrong is not None or missed:
        reason = f"the certificate does not hold: {wrong}" if wrong else f"accepted all the same: {missed[0]}"
        return Decision("inconclusive", reason=reason, controls=controls)
    steps = (conclusion(document), "controls: the same with twice its bound, and with a leaf emptied")
    return Decision("certified", METHOD, ("arb",), controls=controls, steps=steps)


def damaged(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Two wrong certificates near this one."""
    trees = document["parts"]["forward"]
    emptied = {**document["parts"], "forward": [_emptied(trees[0]), *trees[1:]]}
    return [
        ("its bound doubled", {**document, "bound": str(2 * Fraction(document["bound"]))}),
        ("a leaf without weights", {**document, "parts": emptied}),
    ]


def _emptied(tree: list[Any]) -> list[Any]:
    """The tree with the weights of its first leaf set to 0."""
    if tree[0] == "leaf":
        return ["leaf", [[x, "0"] for x, _ in tree[1]], tree[2]]
    return [*tree[:3], _emptied(tree[3]), *tree[4:]]
