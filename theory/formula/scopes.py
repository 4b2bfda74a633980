"""Every free name bound, once; vectors used as vectors."""

from __future__ import annotations

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.hints import MEAN, MEANS, nearest
from gateproof.theory.formula.nodes import (
    At,
    Average,
    Bind,
    Claim,
    Diff,
    Exists,
    Extremum,
    Gauss,
    Gauss2,
    Index,
    Integral,
    Limit,
    Lse,
    MatrixSet,
    MeanField,
    NamedSet,
    Node,
    Pred,
    Scope,
    Series,
    SetPower,
    Softmax,
    Taylor,
    Var,
)


def bind_polynomials(claim: Claim) -> Claim:
    """The claim with the variables of taylor and diff over R where nothing binds them.

    ``taylor(exp(x), x, 0, 1) == 1 + x`` is an identity of polynomials: x ranges over R.
    """
    named = {n.var for n in claim.walk() if isinstance(n, Taylor | Diff)}
    wanted = named & free_names(claim) if named else named
    if not wanted:
        return claim
    binds = tuple(Bind(name, NamedSet("R")) for name in sorted(wanted))
    return Claim(Scope(claim.scope.binds + binds, claim.scope.conditions), claim.body, claim.format)


def check(claim: Claim) -> None:
    """Raise FormulaError if a name is unbound, bound twice, or of the wrong kind."""
    known: dict[str, str] = {}
    _scope(claim.scope, known)
    _visit(claim.body, known)


def free_names(node: Node) -> set[str]:
    """Names that the node uses and does not bind."""
    if isinstance(node, Var):
        return {node.name}
    if isinstance(node, Index):
        return {node.vector} | free_names(node.index)
    if isinstance(node, Lse):
        return {node.vector} | (free_names(node.without) if node.without is not None else set())
    if isinstance(node, Softmax):
        return {node.vector} | free_names(node.index)
    inner, outer = split_children(node)
    found: set[str] = set()
    for child in inner:
        found |= free_names(child)
    if isinstance(node, Scope):
        return found - set(node.names())
    found -= bound_names(node)
    for child in outer:
        found |= free_names(child)
    return found


def bound_names(node: Node) -> set[str]:
    """Names that the node binds in its body."""
    if isinstance(node, Extremum | Pred | Exists | Claim):
        return set(node.scope.names())
    if isinstance(node, Series):
        return {node.index}
    if isinstance(node, At | Limit | Integral | Gauss | Average | MeanField):
        return {node.var}
    if isinstance(node, Gauss2):
        return {node.u, node.v}
    return set()


def split_children(node: Node) -> tuple[list[Node], list[Node]]:
    """Children in the scope of what the node binds, and children outside of it."""
    if isinstance(node, Series):
        return [node.body], [node.lo, node.hi]
    if isinstance(node, At):
        return [node.body], [node.value]
    if isinstance(node, Limit):
        return [node.body], [node.point]
    if isinstance(node, Integral):
        return [node.body], [node.lo, node.hi]
    if isinstance(node, Gauss):
        return [node.body], [node.q, node.mean]
    if isinstance(node, Gauss2):
        return [node.body], [node.q, node.c]
    if isinstance(node, Average):
        return [node.body], [node.first, node.second]
    if isinstance(node, MeanField):
        return [node.body], [e for e in (node.sigma_w2, node.sigma_b2) if e is not None]
    return list(node.children()), []


def _scope(scope: Scope, known: dict[str, str]) -> None:
    names = {b.name for b in scope.binds}
    for bind in scope.binds:
        if bind.name in known:
            raise FormulaError(f"{bind.name!r} is bound twice", name=bind.name)
    earlier = dict(known)
    for bind in scope.binds:
        # A set may use the names bound before it: z in R**n after n in N1.
        _visit(bind.within, earlier)
        earlier[bind.name] = _kind(bind)
    known.update({b.name: _kind(b) for b in scope.binds if b.name in names})
    for condition in scope.conditions:
        _visit(condition, known)


def _kind(bind: Bind) -> str:
    kinds = {SetPower: "vector", MatrixSet: "matrix"}
    return kinds.get(type(bind.within), "number")


def _need(name: str, kind: str, known: dict[str, str]) -> None:
    if name not in known:
        near = nearest(name, known)
        within = "N1" if name in ("n", "m", "K", "N") and not near else "R"
        hint = f"did you mean {near}?" if near else f"write 'for {name} in {within}: ...' in front"
        if name in MEANS:
            hint = MEAN
        raise FormulaError(f"{name!r} is not bound", hint=hint, name=name)
    if known[name] != kind and (known[name], kind) != ("matrix", "number"):
        # Whether a matrix may stand in the place of a number is a question of shapes.
        raise FormulaError(f"{name!r} is a {known[name]} and is used as a {kind}", name=name)


def _visit(node: Node, known: dict[str, str]) -> None:
    if isinstance(node, Var):
        _need(node.name, "number", known)
    elif isinstance(node, Index | Softmax | Lse):
        _need(node.vector, "vector", known)
    if isinstance(node, Diff | Taylor):
        _need(node.var, "number", known)
    inner_known = dict(known)
    if isinstance(node, Extremum | Pred | Exists | Claim):
        _scope(node.scope, inner_known)
        _visit(node.body, inner_known)
        return
    for name in bound_names(node):
        if name in known and not isinstance(node, At | Limit):
            raise FormulaError(f"{name!r} is bound twice", name=name)
        inner_known[name] = "number"
    inner, outer = split_children(node)
    for child in inner:
        _visit(child, inner_known)
    for child in outer:
        _visit(child, known)
