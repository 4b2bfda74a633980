"""A statement on a vector in the values at the named places, for one way in which these can lie.

A sum over all places of a function of z[k] is split into products of a part free of k and parts
that depend on z[k] alone; of each such part the sum over the places not named is one number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gateproof.theory.exact import infinity
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.vector_cases import Case, Outside, extreme_place
from gateproof.theory.exact.vector_parts import parts_of
from gateproof.theory.exact.vector_sum_facts import Others, sum_facts
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import (
    And,
    App,
    Exists,
    Expr,
    Extremum,
    Index,
    Lse,
    Node,
    Rel,
    Series,
    Softmax,
    Stmt,
    Var,
    num,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value


class NoValue(Exception):
    """In some way the statement has no value; the message says in which."""


def ordered(op: str, sign: int) -> bool:
    """Whether a relation holds for sides whose difference has this sign."""
    return sign in {"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}[op]


@dataclass
class Reduction:
    """A statement in the values at named places, and numbers for sums over the others."""

    case: Case
    sums: dict[Expr, str] = field(default_factory=dict)
    domains: dict[str, Domain] = field(default_factory=dict)
    facts: list[Stmt] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.entry = self._free("z_k")
        self.sums[App("exp", (Var(self.entry),))] = self.others
        self._extremes()

    @property
    def others(self) -> str:
        """The name of the sum of exp over the places that are not named."""
        return self._free("S")

    def _free(self, name: str) -> str:
        taken = {*self.case.shape.scalars.domains, *self.case.names, self.case.shape.vector}
        while name in taken or any(Var(name) == p for p in self.case.shape.places):
            name += "_"
        return name

    # --- what is known ----------------------------------------------------------

    def given(self, conditions: tuple[Stmt, ...]) -> Assumptions:
        """Domains and facts of the case."""
        shape, case = self.case.shape, self.case
        domains = dict(shape.scalars.domains)
        for name, finite in zip(case.names, case.finite, strict=True):
            if finite:
                domains[name] = shape.base
        if case.others == "some":
            domains[self.others] = Domain(lo=num(0))
        facts = [*shape.scalars.facts, *self.facts, *self._about_sums(), *conditions]
        if isinstance(shape.length, Var):
            count = num(len(case.classes) + (case.others != "none"))
            op = "==" if case.others == "none" else ">="
            if case.others == "none":
                domains.pop(shape.length.name, None)
                facts = [
                    f for f in (_put(f, {shape.length.name: count}) for f in facts) if isinstance(f, Stmt)
                ]
            else:
                facts.append(Rel((op,), (shape.length, count)))
        return Assumptions({**domains, **self.domains}, tuple(facts))

    def _about_sums(self) -> list[Stmt]:
        used = {part: label for part, label in self.sums.items() if label in self.used}
        if self.case.others != "some" or self.case.shape.masked or not used:
            return []
        bounds = tuple(
            ("<=" if place.name.startswith("max ") else ">=", self.case.names[self.case.class_of(place)])
            for place in self.case.shape.places
            if isinstance(place, Var) and " " in place.name
        )
        others = Others(self._count_of_others(), self.entry, self.case.shape.base, bounds)
        return sum_facts(used, others)

    def _count_of_others(self) -> Expr:
        return App("add", (self.case.shape.length, num(-len(self.case.classes))))

    def _extremes(self) -> None:
        """What the greatest (least) place says of all others."""
        case = self.case
        for place in case.shape.places:
            if not isinstance(place, Var) or " " not in place.name:
                continue
            if case.shape.masked:
                raise Outside
            op = "<=" if place.name.startswith("max ") else ">="
            top = Var(case.names[case.class_of(place)])
            self.facts += [Rel((op,), (Var(n), top)) for n in case.names if Var(n) != top]
            if case.others == "some":
                bound = App("mul", (self._count_of_others(), App("exp", (top,))))
                self.facts.append(Rel((op,), (Var(self.others), bound)))

    # --- conditions -------------------------------------------------------------

    def condition(self, stmt: Stmt) -> Stmt | bool | None:
        """A condition as a fact, or its truth in this case; None where it is not used."""
        if not isinstance(stmt, Rel) or any(isinstance(n, Exists) for n in stmt.walk()):
            return None
        kept: list[Stmt] = []
        unused = False
        for op, a, b in zip(stmt.ops, stmt.terms, stmt.terms[1:], strict=False):
            found = self._comparison(op, a, b)
            if found is False:
                return False
            unused = unused or found is None
            if isinstance(found, Stmt):
                kept.append(found)
        if not kept:
            return None if unused else True
        return kept[0] if len(kept) == 1 else And(tuple(kept))

    def _comparison(self, op: str, a: Expr, b: Expr) -> Stmt | bool | None:
        places = self.case.shape.places
        if a in places and b in places:
            if self.case.class_of(a) == self.case.class_of(b):
                return op in ("==", "<=", ">=")
            return {"==": False, "!=": True}.get(op)
        try:
            sides = [infinity.fold(self.of(s))[0] for s in (a, b)]
        except (Outside, NoValue):
            return None
        signs = [infinity.side(s) for s in sides]
        numbers = [constant_value(s) for s in sides]
        if any(infinity.has_infinity(s) for s, sign in zip(sides, signs, strict=True) if not sign):
            return None
        if any(signs):
            return ordered(op, (signs[0] > signs[1]) - (signs[0] < signs[1]))
        if sides[0] == sides[1]:
            return op in ("==", "<=", ">=")
        if numbers[0] is not None and numbers[1] is not None:
            return ordered(op, (numbers[0] > numbers[1]) - (numbers[0] < numbers[1]))
        return Rel((op,), (sides[0], sides[1]))

    # --- expressions ------------------------------------------------------------

    def of(self, node: Expr) -> Expr:
        """The expression in the values at the places. Raises Outside or NoValue."""
        result = self._visit(node)
        assert isinstance(result, Expr)
        return result

    def _visit(self, node: Node) -> Node:
        shape = self.case.shape
        if isinstance(node, Index | Softmax | Lse) and node.vector != shape.vector:
            raise Outside
        if isinstance(node, Index):
            return self._value(node.index)
        if isinstance(node, Softmax):
            total = self._total(None)
            if total is None:
                raise NoValue(f"every place of {shape.vector} is -oo, and softmax is 0/0")
            k = self.case.class_of(node.index)
            return App("div", (self._exponential(k), total)) if self.case.finite[k] else num(0)
        if isinstance(node, Lse):
            total = self._total(node.without)
            return infinity.MINUS_INFINITY if total is None else App("log", (total,))
        if isinstance(node, Series):
            return self._sum(node)
        if isinstance(node, Extremum):
            place = extreme_place(node, shape.vector, shape.length)
            if place is None:
                raise Outside
            return self._value(place)
        if isinstance(node, Var):
            return self._name(node)
        done = rebuild(node, self._visit)
        assert isinstance(done, Node)
        return done

    def _name(self, node: Var) -> Expr:
        shape = self.case.shape
        if node == shape.length:
            return num(len(self.case.classes)) if self.case.others == "none" else node
        if node.name == shape.vector or node in shape.places or node.name not in shape.scalars.domains:
            raise Outside
        return node

    def _value(self, place: Expr) -> Expr:
        k = self.case.class_of(place)
        return Var(self.case.names[k]) if self.case.finite[k] else infinity.MINUS_INFINITY

    def _exponential(self, k: int) -> Expr:
        return App("exp", (Var(self.case.names[k]),))

    def _total(self, without: Expr | None) -> Expr | None:
        """The sum of the exponentials, perhaps without one place; None where it is 0."""
        left_out = None if without is None else self.case.class_of(without)
        terms = [self._exponential(k) for k, f in enumerate(self.case.finite) if f and k != left_out]
        if self.case.others == "some":
            self.used.add(self.others)
            terms.append(Var(self.others))
        if not terms:
            return None
        return terms[0] if len(terms) == 1 else App("add", tuple(terms))

    def _sum(self, node: Series) -> Expr:
        """A sum over all places by the sums of its parts."""
        shape = self.case.shape
        if node.op != "sum" or node.lo != num(1) or node.hi != shape.length:
            raise Outside
        body = self._at_entry(node.body, node.index)
        given = self.given(())
        wider = Assumptions({**given.domains, self.entry: shape.base}, given.facts)
        if prove_defined(body, wider) is None:
            raise Outside
        parts = in_workspace(wider, lambda ws: parts_of(ws, body, self.entry))
        if parts is None:
            raise Outside
        terms = [App("mul", (coefficient, self._sum_of(part))) for part, coefficient in parts]
        return App("add", (num(0), *terms))

    def _at_entry(self, node: Node, index: str) -> Expr:
        place, value = Var(index), Var(self.entry)

        def visit(inner: Node) -> Node:
            if isinstance(inner, Index) and inner.index == place:
                return value
            if isinstance(inner, Softmax) and inner.index == place:
                total = self._total(None)
                if total is None:
                    raise NoValue("every place is -oo, and softmax is 0/0")
                return App("div", (App("exp", (value,)), total))
            if isinstance(inner, Index | Softmax | Lse | Series | Extremum):
                return self._visit(inner)
            if isinstance(inner, Var):
                return self._name(inner)
            done = rebuild(inner, visit)
            assert isinstance(done, Node)
            return done

        result = visit(node)
        assert isinstance(result, Expr)
        return result

    def _sum_of(self, part: Expr) -> Expr:
        """The sum over all places of a function of z[k]."""
        length = self.case.shape.length
        if part == num(1):
            return self._name(length) if isinstance(length, Var) else length
        is_exponential = part == App("exp", (Var(self.entry),))
        if self.case.shape.masked and not is_exponential:
            raise Outside
        terms = [
            substitute(part, {self.entry: Var(name)})
            for name, finite in zip(self.case.names, self.case.finite, strict=True)
            if finite
        ]
        if self.case.others == "some":
            terms.append(Var(self._sum_name(part)))
        if not terms:
            return num(0)
        return terms[0] if len(terms) == 1 else App("add", tuple(terms))

    def _sum_name(self, part: Expr) -> str:
        if part not in self.sums:
            label = self._free(f"S{len(self.sums) + 1}")
            entry = Assumptions({self.entry: self.case.shape.base})
            zero = num(0)
            domain = Domain()
            for op, found in (
                (">", Domain(lo=zero)),
                (">=", Domain(lo=zero, lo_closed=True)),
                ("<", Domain(hi=zero)),
                ("<=", Domain(hi=zero, hi_closed=True)),
            ):
                if prove_relation(part, op, zero, entry) is not None:
                    domain = found
                    break
            self.sums[part], self.domains[label] = label, domain
        self.used.add(self.sums[part])
        return self.sums[part]


def _put(node: Node, values: dict[str, Expr]) -> Node:
    return substitute_node(node, values)
