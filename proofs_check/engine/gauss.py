"""Relations with normal means that depend on names.

A failure at a point refutes. What holds for all values is shown in one of two ways: the other side is
itself a mean, of a polynomial that bounds the integrand everywhere; or the variance is cut into boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.gauss import gaussian_over
from gateproof.numerics.integral import Value
from gateproof.proofs_check.engine.boxes import box_of
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import CERTIFIED, Outcome, conjunction, undecided
from gateproof.proofs_check.engine.quadrature import HOLDS, value_interval
from gateproof.proofs_check.engine.relation import decide_relation
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.proofs_check.engine.variance_certificates import variance_certificate
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.kernels import ZERO, plus, polynomial_in, raised, times
from gateproof.theory.exact.means import Mean, holds_mean
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Expr, Gauss, Node, Num, Rel, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Points of the scope at which a failure is looked for, and boxes of a variance.
POINTS, BOXES = 8, 400
_DIGITS = 6
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
Decide = Callable[[Space, Rel], Outcome]


def decide_over_names(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome:
    """Look for a point of failure, then for an argument that covers the whole scope."""
    failure = _failure(space, relation, context, decide)
    if failure is not None:
        return failure
    for method in (_by_domination, _by_boxes):
        found = method(space, relation, context)
        if found is not None:
            return found
    return undecided("no method covers this mean for all values of the names")


def _failure(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome | None:
    for point in points(space, (relation,), context.settings.seed, POINTS):
        values: dict[str, Expr] = {k: Num(v) for k, v in point.items()}
        at = substitute_node(relation, values)
        assert isinstance(at, Rel)
        found = decide(Space(), at)
        where = {k: rational_text(v) for k, v in point.items()}
        if found.ill_posed:
            return replace(found, witness=where)
        if found.truth is False:
            return replace(found, witness={**where, **(found.witness or {})})
    return None


def _by_domination(space: Space, relation: Rel, context: Context) -> Outcome | None:
    """E f <= sum c_k q^k where f(z) <= sum c_k z^(2k)/(1 3 5 ... (2k-1)) for every z."""
    (op,), (a, b) = relation.ops, relation.terms
    if isinstance(b, Gauss) and not isinstance(a, Gauss):
        a, b, op = b, a, _FLIP[op]
    if op in ("==", "!=") or not isinstance(a, Gauss) or holds_mean(b) or a.mean != ZERO:
        return None
    if not isinstance(a.q, Var) or free_names(a.body) != {a.var} or a.q.name not in space.domains:
        return None
    powers = polynomial_in(b, a.q.name)
    if powers is None or a.q.name in {n for c in powers.values() for n in free_names(c)}:
        return None
    z = Var(a.var)
    terms = [
        times(c, raised(z, 2 * k), Num(Fraction(1, prod(range(1, 2 * k, 2))))) for k, c in powers.items()
    ]
    bound = plus(*terms)
    # A strict inequality may fail at single points, which have no weight where the variance is not 0.
    spread = prove_relation(a.q, ">", ZERO, space.assumptions()) is not None
    for pointwise, everywhere in _pointwise(a, op, bound):
        found = _under_the_mean(space, a.var, pointwise, everywhere, spread, context)
        if found is None:
            continue
        if pointwise.terms[0] != a.body and not _grows_slowly(space, a, context):
            return None
        step = f"for every {a.var}: {to_text(pointwise)}; the mean of the right side is {to_text(b)}"
        return replace(
            found, method=f"bound under the mean, {found.method}", steps=(*found.steps, step), witness=None
        )
    return None


def _pointwise(mean: Gauss, op: str, bound: Expr) -> list[tuple[Rel, Domain]]:
    """The integrand against the bound on R, and its even part, which has the same mean, from 0 on."""
    mirrored = substitute(mean.body, {mean.var: App("neg", (Var(mean.var),))})
    even = App("div", (App("add", (mean.body, mirrored)), num(2)))
    half = Domain(num(0), None, True, False)
    return [(Rel((op,), (mean.body, bound)), Domain()), (Rel((op,), (even, bound)), half)]


def _under_the_mean(
    space: Space, name: str, pointwise: Rel, everywhere: Domain, spread: bool, context: Context
) -> Outcome | None:
    """The relation for almost every value; strict on [1, 2] is enough where the loose one holds."""
    (op,), terms = pointwise.ops, pointwise.terms

    def over(domain: Domain, link: str) -> Outcome:
        inner = Space({**space.domains, name: domain}, space.facts)
        return decide_relation(inner, Rel((link,), terms), context.deeper())

    if op not in ("<", ">"):
        found = over(everywhere, op)
        return found if found.truth is True else None
    if not spread:
        found = over(everywhere, op)
        return found if found.truth is True else None
    found = over(replace(everywhere, without=(num(0),)), op)
    if found.truth is True:
        return found
    loose = over(everywhere, f"{op}=")
    if loose.truth is not True:
        return None
    strict = over(Domain(num(1), num(2), True, True), op)
    return conjunction([loose, strict]) if strict.truth is True else None


def _grows_slowly(space: Space, mean: Gauss, context: Context) -> bool:
    """Whether the integrand is at most 10 + 10 z**2 in size, so that its odd part has the mean 0."""
    z = Var(mean.var)
    most = plus(num(10), times(num(10), raised(z, 2)))
    inner = Space({**space.domains, mean.var: Domain()}, space.facts)
    size = Rel(("<=",), (App("abs", (mean.body,)), most))
    return decide_relation(inner, size, context.deeper()).truth is True


def _by_boxes(space: Space, relation: Rel, _: Context) -> Outcome | None:
    """The variance cut into boxes, with quadrature that holds for every variance of a box."""
    (op,), (a, b) = relation.ops, relation.terms
    if op not in HOLDS or op == "==" or len(space.domains) != 1:
        return undecided("means that depend on more than one name, or equal something for all of its values")
    means = list(dict.fromkeys(n for n in relation.walk() if isinstance(n, Mean)))
    (name,) = space.domains
    box = box_of(space)
    ends = None if box is None else box[name]
    if ends is None or ends[0] is None or ends[1] is None:
        return undecided("a mean without closed form over an unbounded range of a name")
    if not all(_only_variance(n, name) for n in means):
        return undecided("a mean without closed form that depends on a name by more than its variance")
    gap = App("add", (a, App("neg", (b,))))
    todo, done = [(ends[0], ends[1])], 0
    while todo:
        lo, hi = todo.pop()
        done += 1
        if done > BOXES:
            return undecided(f"boxes: {BOXES} parts of the range of {name}, up to {float(lo):.6g}")
        if lo <= 0:
            return undecided(f"a mean without closed form near {name} = 0")
        signs = _signs_on(gap, means, name, lo, hi)
        if signs is not None and signs <= set(HOLDS[op]):
            continue
        middle = (lo + hi) / 2
        todo += [(middle, hi), (lo, middle)]
    step = f"{to_text(relation)} on each of {done} parts of the range of {name}"
    known = variance_certificate(gap, means, name, (ends[0], ends[1]), frozenset(HOLDS[op]))
    trust = ("arb", "mpfr") if known is not None else ("arb",)
    return Outcome(True, CERTIFIED, "certified quadrature over boxes", trust, (step,), certificate=known)


def _only_variance(node: Node, name: str) -> bool:
    """Whether a mean depends on the name by its variance alone, which is the name itself."""
    if not isinstance(node, Gauss) or name in free_names(node.body) | free_names(node.mean):
        return False
    return node.q == Var(name) or name not in free_names(node.q)


def _signs_on(gap: Expr, means: Sequence[Node], name: str, lo: Fraction, hi: Fraction) -> set[int] | None:
    values: dict[Node, Value] = {}
    for node in means:
        assert isinstance(node, Gauss)
        found = gaussian_over(node, name, lo, hi, _DIGITS)
        if found.enclosure is None:
            return None
        values[node] = found
    try:
        low, high = value_interval(gap, values, 96, {name: (lo, hi)})
    except (Undefined, MaybeUndefined):
        return None
    held = {-1: bool(low < 0), 0: bool(low <= 0) and bool(high >= 0), 1: bool(high > 0)}
    return {sign for sign, present in held.items() if present}
