"""A relation between two values, for all values of a space."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import SIGN_TESTS, at_point, difference_sign, enclosure
from gateproof.proofs_check.engine.boxes import bounded_below
from gateproof.proofs_check.engine.conditioned import nonnegative_under
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.factcases import by_fact_cases
from gateproof.proofs_check.engine.lipschitz import lipschitz
from gateproof.proofs_check.engine.outcome import PROVED, Outcome, conjunction, undecided
from gateproof.proofs_check.engine.periodic import one_period
from gateproof.proofs_check.engine.pieces import by_pieces
from gateproof.proofs_check.engine.positive import through_exponential
from gateproof.proofs_check.engine.sample import MANY, points
from gateproof.proofs_check.engine.several_names import by_means, widened
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.proofs_check.engine.touching import inner_contact, touching_bound
from gateproof.proofs_check.engine.witness import exact_failure, failure_at, search
from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.peak import prove_at_peak
from gateproof.theory.exact.piecewise import linear_root
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.rational_identity import prove_identity
from gateproof.theory.exact.scaling import remove_parameter
from gateproof.theory.exact.under_equations import prove_under_equations
from gateproof.theory.formula.nodes import App, Expr, Rel, Var, num
from gateproof.theory.formula.printer import to_text

#: Points at which a symbolic proof is held against ball arithmetic.
CROSS_CHECKS = 24
#: Rules that call each other stop at this depth.
MAX_DEPTH = 3
_STRICT = {"<": True, ">": True, "<=": False, ">=": False}


def minus(a: Expr, b: Expr) -> Expr:
    """A - b."""
    if b == num(0):
        return a
    return App("neg", (b,)) if a == num(0) else App("add", (a, App("neg", (b,))))


def decide_relation(space: Space, relation: Rel, context: Context) -> Outcome:
    """Decide ``for all of the space: a op b`` for core expressions a and b."""
    (op,), (a, b) = relation.ops, relation.terms
    space = space.restricted_to(relation)
    defined = [decide_defined(space, side, context) for side in (a, b)]
    for found in defined:
        if found.ill_posed:
            return found
    identity = _identity(space, relation)
    if identity is not None:
        return cross_checked(space, relation, identity, context)
    failure = search(space, relation, context.settings.seed)
    if failure is not None:
        return failure
    unsure = next((d for d in defined if d.truth is None), None)
    if unsure is not None:
        return unsure
    for_balls = op in _STRICT and mixed(a, b)
    proof = None if for_balls else prove_relation(a, op, b, space.assumptions(), defined=True)
    if proof is not None:
        return cross_checked(space, relation, proof, context)
    if op == "==" and space.facts:
        proof = prove_under_equations(a, b, space.assumptions())
        if proof is not None:
            return cross_checked(space, relation, proof, context)
    exact = exact_failure(space, relation)
    if exact is not None:
        return exact
    if context.depth < MAX_DEPTH:
        cases = by_fact_cases(space, relation, lambda s, r: decide_relation(s, r, context.deeper()))
        if cases is not None:
            return cases
    if op in _STRICT:
        peak = prove_at_peak(a, op, b, space.assumptions()) if not space.facts else None
        if peak is not None:
            return cross_checked(space, relation, peak, context)
        return _inequality(space, relation, context)
    if op == "!=":
        return _unequal(space, a, b, context)
    return _undecided_equality(space, relation, context)


def _identity(space: Space, relation: Rel) -> Derivation | None:
    """Equal rational functions of many names, before hundreds of points are looked at in vain."""
    if relation.ops != ("==",) or len(space.domains) < MANY:
        return None
    a, b = relation.terms
    return prove_identity(a, b, space.assumptions())


def cross_checked(space: Space, relation: Rel, proof: Derivation, context: Context) -> Outcome:
    """The proved outcome, unless ball arithmetic contradicts it somewhere."""
    (op,), (a, b) = relation.ops, relation.terms
    checked = 0
    for point in points(space, (relation,), context.settings.seed + 1, CROSS_CHECKS):
        try:
            sign = difference_sign(a, b, point, 256)
        except (Undefined, MaybeUndefined):
            return undecided(
                f"engines disagree: a side of {to_text(relation)} has no value at a point of the scope"
            )
        checked += 1
        if sign is not None and not SIGN_TESTS[op](sign):
            return undecided(f"engines disagree: balls contradict the symbolic proof of {to_text(relation)}")
    steps = (*proof.steps, f"held against ball arithmetic at {checked} points of the scope")
    trust = tuple(dict.fromkeys((*proof.trust, "arb")))
    return Outcome(True, PROVED, "symbolic proof", trust, steps)


_GAUSSIAN = frozenset({"erf", "erfc"})
_EXPONENTIAL = frozenset({"exp", "sigmoid", "tanh", "sech", "softplus", "cosh", "sinh"})


def _inequality(space: Space, relation: Rel, context: Context) -> Outcome:
    (op,), (a, b) = relation.ops, relation.terms
    scaled = remove_parameter(a, op, b, space.assumptions()) if context.depth < MAX_DEPTH else None
    if scaled is not None:
        return _scaled(relation, scaled, context)
    if op[0] == ">":
        a, b, op = b, a, op.replace(">", "<")
    steep = lipschitz(space, op, a, b, context) if context.depth < MAX_DEPTH else None
    if steep is not None:
        return steep
    if isinstance(a, App) and a.head == "abs" and context.depth < MAX_DEPTH:
        # |u| <= b is u <= b and -u <= b: each smooth where u is.
        (u,) = a.args
        sides = [Rel((op,), (side, b)) for side in (u, App("neg", (u,)))]
        return conjunction([_inequality(space, side, context.deeper()) for side in sides])
    gap = minus(b, a)
    strict = _STRICT[op]
    real_names = [n for n in space.domains if n not in space.vectors]
    if len(real_names) != 1:
        means = by_means(space, gap, context, strict=strict)
        if means is not None:
            return cross_checked(space, Rel((op_of(strict=strict),), (gap, num(0))), means, context)
        plain = bounded_below(space, gap, strict=strict, context=context)
        if plain.truth is not None or plain.ill_posed:
            return plain
        return nonnegative_under(space, gap, strict=strict, context=context) or _wider(
            space, Rel((op,), (a, b)), context, plain
        )
    name = real_names[0]
    space = one_period(space, gap) or space

    def bound(part: Space, smooth: Expr) -> Outcome:
        return nonnegative(part, name, smooth, strict=strict, context=context)

    found = by_pieces(space, name, gap, op_of(strict=strict), bound)
    return conjunction(found) if found is not None else bound(space, gap)


def _wider(space: Space, relation: Rel, context: Context, plain: Outcome) -> Outcome:
    """A bound that boxes only touch, shown for all real numbers."""
    wide = widened(space)
    if wide is None or context.depth >= MAX_DEPTH:
        return plain
    found = decide_relation(wide, relation, context.deeper())
    if found.truth is not True:
        return plain
    return replace(found, steps=("shown for more than the ranges given", *found.steps))


def mixed(*exprs: Expr) -> bool:
    """Whether exponentials and error functions meet: exact algebra seldom decides such bounds, balls do."""
    heads = {n.head for e in exprs for n in e.walk() if isinstance(n, App)}
    return bool(heads & _GAUSSIAN) and bool(heads & _EXPONENTIAL)


def op_of(*, strict: bool) -> str:
    """The relation to 0 that a bound from below means."""
    return ">" if strict else ">="


def nonnegative(space: Space, name: str, gap: Expr, *, strict: bool, context: Context) -> Outcome:
    """Gap >= 0 (or > 0) in one variable, by symbols, then balls, then exact critical points."""
    op = op_of(strict=strict)
    space = one_period(space, gap) or space
    if mixed(gap):
        found = bounded_below(space, gap, strict=strict, context=context, budget=context.first_budget())
        if found.truth is not None:
            return found
    proof = prove_relation(gap, op, num(0), space.assumptions(), defined=True)
    if proof is not None:
        return cross_checked(space, Rel((op,), (gap, num(0))), proof, context)
    found = bounded_below(space, gap, strict=strict, context=context, budget=context.first_budget())
    if found.truth is None:
        other = through_exponential(space, name, gap)
        if other is not None and context.depth < MAX_DEPTH:
            mapped = nonnegative(other[0], name, other[1], strict=strict, context=context.deeper())
            step = f"with {name} = {to_text(other[2])}, {name} over R up to the image of the upper end"
            return replace(mapped, steps=(step, *mapped.steps))
    if found.truth is not None:
        return found
    contact = inner_contact(space, name, gap, context) if strict else None
    if contact is not None:
        at = to_text(contact)
        step = f"at {name} = {at} both sides are exactly equal"
        return Outcome(False, PROVED, "exact witness", ("flint",), (step,), witness={name: at})
    touching = touching_bound(space, name, gap, context, strict=strict)
    if touching.truth is not None:
        return touching
    if found.reason == "boxes":
        found = bounded_below(space, gap, strict=strict, context=context)
    if found.truth is None and touching.reason:
        return undecided(f"{found.reason}; {touching.reason}")
    return found


def _scaled(relation: Rel, scaled: tuple[Expr, Expr, Assumptions, Derivation], context: Context) -> Outcome:
    left, right, assumptions, derivation = scaled
    smaller = Space(dict(assumptions.domains), assumptions.facts)
    outcome = decide_relation(smaller, Rel(relation.ops, (left, right)), context.deeper())
    if outcome.truth is False:
        back = _unscaled(relation, outcome, assumptions, derivation)
        if back is not None:
            return back
        return Outcome(
            False,
            method=f"scaling, then {outcome.method}",
            trust=(*derivation.trust, *outcome.trust),
            steps=(*derivation.steps, *outcome.steps),
            witness=outcome.witness,
        )
    if outcome.truth is None:
        return outcome
    return Outcome(
        True,
        outcome.rigor,
        f"scaling, then {outcome.method}",
        tuple(dict.fromkeys((*derivation.trust, *outcome.trust))),
        (*derivation.steps, *outcome.steps),
        outcome.value,
        certificate=outcome.certificate,
    )


def _unscaled(
    relation: Rel, outcome: Outcome, assumptions: Assumptions, derivation: Derivation
) -> Outcome | None:
    """The witness of the scaled relation as one of the original: the removed name is 1."""
    names = {n.name for n in relation.walk() if isinstance(n, Var)}
    kept = {k: v for k, v in (outcome.witness or {}).items() if k in assumptions.domains}
    try:
        point = {n: Fraction(kept.get(n, "1")) for n in names}
        found = failure_at(relation, point)
    except (ValueError, Undefined):
        return None
    if found is None:
        return None
    trust = tuple(dict.fromkeys((*derivation.trust, *found.trust)))
    return replace(found, steps=(*derivation.steps, *found.steps), trust=trust)


def _unequal(space: Space, a: Expr, b: Expr, context: Context) -> Outcome:
    met = _meeting_point(space, a, b)
    if met is not None:
        return met
    signs = set()
    for point in points(space, (a, b), context.settings.seed, 60):
        signs.add(difference_sign(a, b, point, 256))
    if signs == {1}:
        return _inequality(space, Rel((">",), (a, b)), context)
    if signs == {-1}:
        return _inequality(space, Rel(("<",), (a, b)), context)
    return undecided("the sides cross or could not be told apart at sample points")


def _meeting_point(space: Space, a: Expr, b: Expr) -> Outcome | None:
    """Where the difference is a line, its zero refutes ``a != b`` if it lies in the space."""
    if len(space.domains) != 1 or space.facts or space.vectors:
        return None
    ((name, domain),) = space.domains.items()
    root = None if domain.integer or domain.without else linear_root(minus(a, b), name)
    if root is None:
        return None
    lo, hi = enclosure(root)
    if not (contains(domain, lo) and contains(domain, hi)):
        return None
    at = to_text(root)
    step = f"at {name} = {at} both sides are exactly equal"
    return Outcome(False, PROVED, "exact witness", ("flint",), (step,), witness={name: at})


def _undecided_equality(space: Space, relation: Rel, context: Context) -> Outcome:
    a, b = relation.terms
    digits: list[int] = []
    for point in points(space, (relation,), context.settings.seed + 2, 12):
        try:
            gap = at_point(minus(a, b), point, 512)
            size = at_point(a, point, 512)
        except (Undefined, MaybeUndefined):
            continue
        digits.append(agreeing_digits(gap, size))
    if not digits:
        return undecided("no method reduces the difference to 0")
    return undecided(
        f"agree to {min(digits)} digits at {len(digits)} points; no method reduces the difference to 0"
    )


def agreeing_digits(gap: object, size: object) -> int:
    """How many digits two enclosures share, from the enclosure of their difference."""
    from flint import arb

    assert isinstance(gap, arb)
    assert isinstance(size, arb)
    bound = gap.abs_upper()
    scale = size.abs_upper() + 1
    ratio = bound / scale
    if ratio == 0:
        return 10_000
    return max(0, int(float((-ratio.log() / arb(10).log()).mid())))
