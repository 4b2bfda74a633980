"""The theorem that a formula keeps its bounds on a box: by algebra, or by a compact part and its tails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gateproof.proofs_check.coq.algebra import algebra
from gateproof.proofs_check.coq.compact import bisection, unfolding
from gateproof.proofs_check.coq.expansion import Beyond
from gateproof.proofs_check.coq.tail import Limits, tail_lemma
from gateproof.proofs_check.coq.text import number, term, variable
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula.nodes import Expr

Ends = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class Question:
    """Bounds of a formula on a box of closed ends; None: no end on that side."""

    expr: Expr
    box: Mapping[str, Ends]
    limits: Limits
    cuts: Ends = (None, None)


@dataclass(frozen=True)
class Theorem:
    """Definition and theorem ``label_bounds`` with its proof; what of the box it covers, in words."""

    text: str
    covers: str
    whole: bool
    hypotheses: int


def theorem(question: Question, label: str) -> Theorem:
    """State and prove. Raises RefusedError for what Coq's reals, or coq-interval, has no term for."""
    names = {name: variable(name) for name in question.box}
    if len(set(names.values())) < len(names):
        raise RefusedError("two names of variables look alike in Coq")
    binders = " ".join(f"({name} : R)" for name in names.values())
    definition = f"Definition {label} {binders} : R :=\n  {term(question.expr, names)}.\n\n"
    limits = question.limits
    infinite = any(end is None for ends in question.box.values() for end in ends)
    if len(names) == 1:
        (name, own), (lo, hi) = next(iter(names.items())), next(iter(question.box.values()))
        proof = algebra(question.expr, name, own, limits, label) if lo is None and hi is None else None
        if proof is not None:
            return Theorem(definition + proof, "all reals, by algebra: no tails, no intervals", True, 0)
        if infinite:
            return _with_tails(question, label, definition, name, own)
    elif infinite:
        raise RefusedError("a box that is infinite in several variables has no Coq file here")
    ends = {names[name]: ends for name, ends in question.box.items()}
    return Theorem(
        definition + _compact(question, label, f"{label}_bounds", ends), "the whole box", True, len(ends)
    )


def _compact(question: Question, label: str, lemma: str, box: Mapping[str, Ends]) -> str:
    limits, names = question.limits, list(box)
    value = " ".join([label, *names])
    split = " split;" if " /\\ " in limits.statement("") else ""
    how = bisection(names, limits)
    inside = " -> ".join(_inside(name, ends) for name, ends in box.items())
    intros = " ".join(f"H{name}" for name in names)
    binders = " ".join(f"({name} : R)" for name in names)
    return (
        f"Lemma {lemma} {binders} :\n  {inside} -> {limits.statement(value)}.\n"
        f"Proof.\n  intros {intros}. {unfolding(label, question.expr)}\n"
        f"  {split} {how}.\nQed.\n"
    )


def _inside(name: str, ends: Ends) -> str:
    lo, hi = ends
    if lo is not None and hi is not None:
        return f"{number(lo)} <= {name} <= {number(hi)}"
    return f"{number(lo)} <= {name}" if lo is not None else f"{name} <= {number(hi or Fraction(0))}"


def _with_tails(question: Question, label: str, definition: str, name: str, own: str) -> Theorem:
    (lo, hi) = next(iter(question.box.values()))
    limits, value = question.limits, f"{label} {own}"
    pieces, cut_lo, cut_hi = [], lo, hi
    try:
        if hi is None:
            start = max(lo, Fraction(1)) if lo is not None else Fraction(1)
            right = tail_lemma(question.expr, name, 1, start, limits, label)
            pieces.append(right.text)
            cut_hi = right.cut
        if lo is None:
            start = max(-hi, Fraction(1)) if hi is not None else Fraction(1)
            left = tail_lemma(question.expr, name, -1, start, limits, label)
            pieces.append(left.text)
            cut_lo = -left.cut
    except Beyond as reason:
        return _without_tails(question, label, definition, own, reason)
    assert cut_lo is not None
    assert cut_hi is not None
    middle = cut_lo < cut_hi
    if middle:
        pieces.append(_compact(question, label, f"{label}_between", {own: (cut_lo, cut_hi)}))
    given = [_inside(own, (lo, hi))] if lo is not None or hi is not None else []
    lines = [
        f"Theorem {label}_bounds ({own} : R) : {' -> '.join([*given, limits.statement(value)])}.",
        "Proof.",
    ]
    lines += ["  intros D."] if given else []
    if lo is None:
        lines += [
            f"  destruct (Rle_lt_dec {own} {number(cut_lo)}) as [L | L].",
            f"  {{ replace {own} with (- - {own}) by ring. apply {label}_left_tail. lra. }}",
        ]
    if hi is None:
        lines += [
            f"  destruct (Rle_lt_dec {number(cut_hi)} {own}) as [G | G].",
            f"  {{ apply {label}_right_tail. lra. }}",
        ]
    lines += [f"  apply {label}_between. lra." if middle else "  exfalso. lra.", "Qed."]
    pieces.append("\n".join(lines) + "\n")
    words = f"the whole domain: [{cut_lo}, {cut_hi}] by bisection, beyond by the lemmas on the tails"
    return Theorem(definition + "\n".join(pieces), words, True, len(given))


def _without_tails(question: Question, label: str, definition: str, own: str, reason: Beyond) -> Theorem:
    (lo, hi) = next(iter(question.box.values()))
    lo, hi = (question.cuts[0] if lo is None else lo), (question.cuts[1] if hi is None else hi)
    if lo is None or hi is None or lo >= hi:
        raise RefusedError(f"a tail is not reached in Coq ({reason}): give a finite domain")
    text = _compact(question, label, f"{label}_bounds", {own: (lo, hi)})
    words = (
        f"ONLY the range [{lo}, {hi}] that the theorem names. The tails beyond it are covered by the "
        f"certificate, not here ({reason})"
    )
    return Theorem(definition + text, words, False, 1)
