"""Statements on vectors of any length: softmax, log sum exp, sums over all places.

Each way in which the named places can lie (see vector_cases) is proved by itself.
"""

from __future__ import annotations

from gateproof.theory.exact import infinity
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.closed_sums import telescoped
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.integer_powers import linear_in
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.vector_cases import Case, Outside, Shape, cases, shape_of
from gateproof.theory.exact.vector_expand import NoPlace, expand_vectors
from gateproof.theory.exact.vector_reduction import NoValue, Reduction, ordered
from gateproof.theory.formula.nodes import App, Expr, Index, Node, Num, Scope, Series, Stmt, Var, num, rebuild
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

__all__ = ["NoPlace", "NoValue", "expand_vectors", "prove_vector_relation"]


@bounded
def prove_vector_relation(
    lhs: Expr, op: str, rhs: Expr, scope: Scope, extra: Assumptions | None = None
) -> Derivation | None:
    """A proof for all n, all vectors and all places of the scope, or None.

    The scope binds n in N1 (or the length is a number), one vector, and names for its places;
    ``extra`` holds the domains of further names. Raises NoValue where every place may be -oo
    and a part has no value then.
    """
    try:
        left, right = (_telescoped(side, scope) for side in (lhs, rhs))
        shape = shape_of(scope, extra, left, right)
        _places_exist(shape)
        return _all_cases(left, op, right, shape)
    except Outside:
        return None


def _all_cases(left: Expr, op: str, right: Expr, shape: Shape) -> Derivation | None:
    steps: list[str] = []
    trust: set[str] = set()
    for case in cases(shape):
        reduction = Reduction(case)
        facts = [reduction.condition(c) for c in shape.conditions]
        if any(f is False for f in facts):
            continue
        kept = tuple(f for f in facts if isinstance(f, Stmt))
        try:
            a, b = (reduction.of(s) for s in (left, right))
            shown = _finite_relation(a, op, b, reduction.given(kept))
        except NoValue:
            # Conditions may exclude this way: then the statement does not range over it.
            if all(f is True for f in facts):
                raise
            return None
        if shown is None:
            return None
        steps.append(headline(case))
        steps.extend("  " + s for s in shown.steps)
        trust |= set(shown.trust)
    return Derivation(tuple(steps), tuple(sorted(trust))) if steps else None


def headline(case: Case) -> str:
    """What a case is about, in words."""
    length, z = to_text(case.shape.length), case.shape.vector
    count = len(case.classes)
    if not count:
        some = "positive" if case.others == "some" else "0"
        return f"S = the sum of exp({z}[k]) over all k, {some}"
    parts = []
    for members, finite, name in zip(case.classes, case.finite, case.names, strict=True):
        places = " = ".join(to_text(m) for m in members)
        value = f"write {name} for {z}[{places}]" if finite else f"{z}[{places}] = -oo"
        parts.append(value)
    if case.others == "none":
        head = f"{length} = {count}: no other places"
    else:
        head = f"{length} >= {count + 1}"
        parts.append(
            "S > 0 for the sum of exp over the others" if case.others == "some" else "all others -oo"
        )
    return f"{head}; {', '.join(parts)}"


def _places_exist(shape: Shape) -> None:
    """Places by number must be in every vector of the scope."""
    last = max((int(p.value) for p in shape.places if isinstance(p, Num)), default=1)
    if any(isinstance(p, Num) and (p.value < 1 or p.value.denominator != 1) for p in shape.places):
        raise Outside
    if isinstance(shape.length, Num):
        if last > shape.length.value:
            raise Outside
    elif last > 1:
        facts = tuple(c for c in shape.conditions if free_names(c) <= free_names(shape.length))
        given = Assumptions(shape.scalars.domains, facts)
        if prove_relation(shape.length, ">=", num(last), given) is None:
            raise Outside


def _telescoped(node: Expr, scope: Scope) -> Expr:
    """Sums over neighbouring places, as of f(z[k]) - f(z[k + 1]), by their ends."""

    def visit(inner: Node) -> Node:
        done = rebuild(inner, visit)
        if isinstance(done, Series) and any(
            isinstance(n, Index) and n.index != Var(done.index) for n in done.walk()
        ):
            found = telescoped(done, Assumptions({b.name: Domain() for b in scope.binds}))
            # The range must not fall short of empty: 1..n and 1..n - 1 do not, for n >= 1.
            if found is not None and _is_regular(done):
                return found
        assert isinstance(done, Node)
        return done

    result = visit(node)
    assert isinstance(result, Expr)
    return result


def _is_regular(node: Series) -> bool:
    names = free_names(node.hi)
    if node.lo != num(1) or len(names) != 1:
        return False
    return linear_in(node.hi, next(iter(names))) in ((1, 0), (1, -1))


def _finite_relation(left: Expr, op: str, right: Expr, inner: Assumptions) -> Derivation | None:
    sides = []
    for side in (left, right):
        folded, absorbed = infinity.fold(side)
        if any(prove_defined(a, inner) is None for a in absorbed):
            return None
        sides.append(folded)
    signs = [infinity.side(s) for s in sides]
    if any(infinity.has_infinity(s) for s, sign in zip(sides, signs, strict=True) if not sign):
        if any(_indefinite(s) for s in sides):
            raise NoValue("oo - oo")
        return None
    if any(signs):
        for s, sign in zip(sides, signs, strict=True):
            if not sign and prove_defined(s, inner) is None:
                return None
        holds = ordered(op, (signs[0] > signs[1]) - (signs[0] < signs[1]))
        return Derivation(("a side is infinite",)) if holds else None
    return prove_relation(sides[0], op, sides[1], inner)


def _indefinite(node: Expr) -> bool:
    """Whether oo - oo stands in what folding has left."""
    for part in node.walk():
        if isinstance(part, App) and part.head == "add":
            sides = {infinity.side(a) for a in part.args}
            if {1, -1} <= sides:
                return True
    return False
