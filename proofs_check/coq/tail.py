"""Lemmas that a formula keeps its bounds for all y >= M, where x = y or x = -y."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from gateproof.proofs_check.coq.expansion import Beyond, Expansion
from gateproof.proofs_check.coq.polynomial import Key, Poly
from gateproof.proofs_check.coq.text import number
from gateproof.theory.formula.nodes import Expr

_DOUBLINGS = 10


@dataclass(frozen=True)
class Limits:
    """Bounds on all values; None: no bound on that side."""

    lower: Fraction | None
    upper: Fraction | None
    lower_strict: bool = False
    upper_strict: bool = False

    def statement(self, value: str) -> str:
        """The bounds as a proposition."""
        parts = []
        if self.lower is not None:
            parts.append(f"{number(self.lower)} {'<' if self.lower_strict else '<='} {value}")
        if self.upper is not None:
            parts.append(f"{value} {'<' if self.upper_strict else '<='} {number(self.upper)}")
        return " /\\ ".join(parts)


@dataclass(frozen=True)
class TailLemma:
    """A lemma with its proof, and the cut M that it starts from."""

    cut: Fraction
    text: str


def tail_lemma(expr: Expr, name: str, side: int, start: Fraction, limits: Limits, label: str) -> TailLemma:
    """The lemma about the formula called ``label`` in Coq; M is ``start``, doubled while that helps.

    Raises Beyond where the identities of the expansion do not reach, or the bounds are not seen to hold.
    """
    cut = max(Fraction(1), start)
    objection = Beyond("bounds that the tail is not seen to keep")
    for _ in range(_DOUBLINGS):
        try:
            expansion = Expansion(name, side, cut)
            poly = expansion.of(expr)
            tops = {smalls: key for key in poly for smalls in [(key[0], key[2])] if key[2]}
            sizes = {place: _size(expansion, key, cut) for place, key in tops.items()}
            if _fits(poly, expansion, sizes, cut, limits):
                return TailLemma(cut, _write(expansion, poly, sizes, limits, label))
        except Beyond as found:
            objection = found
        cut *= 2
    raise objection


def _size(expansion: Expansion, key: Key, cut: Fraction) -> Fraction:
    """A decimal a little above M^k exp(-a M). Raises Beyond where y^k exp(-a y) still grows at M."""
    k, _, smalls = key
    rate = sum((expansion.smalls[place].rate for place in smalls), Fraction(0))
    if k > rate * cut:
        raise Beyond("a power that still outgrows its exponential")
    value = k * math.log10(cut) - float(rate * cut) / math.log(10)
    places = min(max(3 - math.floor(value), 3), 60)
    return Fraction(math.ceil(10 ** (value + places) * 1.001) + 1, 10**places)


def _fits(
    poly: Poly,
    expansion: Expansion,
    sizes: dict[tuple[int, tuple[int, ...]], Fraction],
    cut: Fraction,
    limits: Limits,
) -> bool:
    low = high = 0.0
    for (k, constants, smalls), factor in poly.items():
        value = float(factor) * math.prod(expansion.rough[c] for c in constants)
        if smalls:
            reach = value * float(sizes[k, smalls])
            low, high = low + min(reach, 0.0), high + max(reach, 0.0)
        else:
            from_, to = value * float(cut) ** k, value if k == 0 else math.copysign(math.inf, value)
            low, high = low + min(from_, to), high + max(from_, to)
    # Small quantities are positive: where none pulls towards a bound, it is not attained.
    signs = {math.copysign(1, factor) for (_, _, smalls), factor in poly.items() if smalls}
    return (
        limits.lower is None
        or low > limits.lower
        or (low == limits.lower and (not limits.lower_strict or signs == {1}))
    ) and (
        limits.upper is None
        or high < limits.upper
        or (high == limits.upper and (not limits.upper_strict or signs == {-1}))
    )


def _write(
    expansion: Expansion,
    poly: Poly,
    sizes: dict[tuple[int, tuple[int, ...]], Fraction],
    limits: Limits,
    label: str,
) -> str:
    cut, point = number(expansion.cut), next(iter(expansion.names.values()))
    name = f"{label}_{'right' if expansion.side > 0 else 'left'}_tail"
    lines = [
        f"Lemma {name} (y : R) : {cut} <= y -> {limits.statement(f'{label} {point}')}.",
        "Proof.",
        "  intros Hy.",
    ]
    for place, found in enumerate(expansion.smalls):
        rate = number(found.rate)
        lines += [
            f"  assert (B{place} : 0 < {found.quantity} <= exp (- ({rate} * y))).",
            f"  {{ apply (small_rate {rate} ({found.quotient}) y ({found.v}));",
            f"      [ lra | bound | field; side | ]. apply {found.lemma}. }}",
        ]
    for place, ((k, smalls), size) in enumerate(sizes.items()):
        rate, quantity, proof = _factor(expansion, smalls)
        lines += [
            f"  assert (M{place} : 0 < y ^ {k} * {quantity} <= {number(size)}).",
            f"  {{ assert (T : 0 < y ^ {k} * {quantity} <= {cut} ^ {k} * exp (- ({rate} * {cut}))).",
            f"    {{ apply (small_power {k} {rate} {cut} y); [ lra | simpl; lra | exact {proof} ]. }}",
            f"    assert (U : {cut} ^ {k} * exp (- ({rate} * {cut})) <= {number(size)}) by bound. lra. }}",
        ]
    order = list(sizes)
    written = [f"y ^ {k} * {_factor(expansion, smalls)[1]}" for k, smalls in order]
    letters = [f"m{place}" for place in range(len(order))]
    lines += [
        f"  assert (E : {label} {point} = {_sum(expansion, poly, order, written)}).",
        f"  {{ unfold {label}.",
    ]
    lines += [f"    {step}" for step in expansion.steps]
    bounds = "".join(f"0 < {m} <= {number(sizes[key])} -> " for m, key in zip(letters, order, strict=True))
    over = f"forall {' '.join(letters)} : R, {bounds}" if letters else ""
    value = f"({_sum(expansion, poly, order, letters)})"
    split = "; split" if " /\\ " in limits.statement("") else ""
    lines += [
        "    field; side. }",
        f"  assert (F : {over}{limits.statement(value)}) by (intros{split}; bound).",
        "  rewrite E. apply F; assumption." if letters else "  rewrite E. exact F.",
        "Qed.",
    ]
    return "\n".join(lines) + "\n"


def _factor(expansion: Expansion, smalls: tuple[int, ...]) -> tuple[str, str, str]:
    """The rate of a product of small quantities, the product, and a proof of 0 < product <= exp(-rate y)."""
    first, *rest = smalls
    known = expansion.smalls[first]
    rate, quantity, proof = number(known.rate), known.quantity, f"B{first}"
    for place in rest:
        other = expansion.smalls[place]
        proof = f"(small_product {rate} {number(other.rate)} y _ _ {proof} B{place})"
        rate = f"({rate} + {number(other.rate)})"
        quantity = f"({quantity} * {other.quantity})"
    return rate, quantity, proof


def _sum(expansion: Expansion, poly: Poly, order: list[tuple[int, tuple[int, ...]]], small: list[str]) -> str:
    parts = [expansion.write({key: value for key, value in poly.items() if not key[2]})]
    for (k, constants, smalls), factor in poly.items():
        if smalls:
            written = small[order.index((k, smalls))]
            parts.append(" * ".join([number(factor), *constants, f"({written})"]))
    return " + ".join(parts)
