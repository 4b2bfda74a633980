"""True statements with one literal, sign or operator damaged, and what the engine says of them."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from fuzz.inputs import EXAMPLES, PAGE, ROOT
from fuzz.oracle import contradiction

from gateproof.proofs_check.alarm import alarm
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.engine.nearest import nearest
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import FormulaError, define, expand_node, parse_claim, to_text
from gateproof.theory.formula.nodes import (
    App,
    Claim,
    Const,
    Extremum,
    IntervalSet,
    Node,
    Num,
    Pred,
    Printed,
    Rel,
    rebuild,
)

PASSED = ("proved", "certified")
BUDGET = Settings(boxes=2_000, max_bits=1_024)
#: The clock ends an attempt; what it ends counts as not decided.
SECONDS = 20


@dataclass(frozen=True)
class Statement:
    """A statement that holds, with its claim's own functions."""

    formal: str
    define: Mapping[str, str] = field(default_factory=dict)

    def definitions(self) -> dict[str, Any]:
        """The functions as the engine reads them."""
        found: dict[str, Any] = {}
        for name, text in self.define.items():
            found[name] = define(name, text, found)
        return found


@cache
def true_statements() -> tuple[Statement, ...]:
    """Shipped readings that are pinned as proved or certified, and the examples of the page that hold."""
    found: dict[str, Statement] = {}
    for file in sorted((ROOT / "proofs_check" / "claims").glob("*.toml")):
        for claim in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]:
            for reading in claim.get("reading", [claim]):
                if reading.get("pin") in PASSED:
                    text = reading["formal"]
                    found.setdefault(text, Statement(text, claim.get("define", {})))
    for match in EXAMPLES.finditer(PAGE.read_text(encoding="utf-8")):
        if match.group(1).strip() == "holds":
            for line in match.group(2).splitlines():
                if line.strip():
                    found.setdefault(line.strip(), Statement(line.strip()))
    return tuple(found.values())


_RELATIONS = {
    "<": (">", "=="), "<=": ("<", ">="), ">": ("<", "=="), ">=": (">", "<="),
    "==": ("<", ">=", "!="), "!=": ("==",),
}  # fmt: skip
_EXTREMA = {"sup": "inf", "inf": "sup", "max": "min", "min": "max", "argmax": "argmin", "argmin": "argmax"}
_PREDICATES = {
    "even": "odd", "odd": "even", "increasing": "decreasing", "decreasing": "increasing",
    "convex": "increasing",
}  # fmt: skip
_HEADS = {
    "add": ("mul",), "mul": ("add",), "tanh": ("sigmoid", "sech"), "sigmoid": ("tanh",),
    "silu": ("gelu", "relu"),
    "gelu": ("silu", "gelu_tanh"), "relu": ("softplus", "abs"), "softplus": ("relu",), "exp": ("sinh",),
    "cosh": ("sinh",), "sinh": ("cosh",), "sqrt": ("abs",), "abs": ("neg",), "asinh": ("sinh", "atan"),
    "log": ("sqrt",), "erf": ("erfc",), "max": ("min",), "min": ("max",), "neg": ("abs",), "div": ("mul",),
}  # fmt: skip


def _damages(node: Node, rng: random.Random) -> list[Node]:
    """What one node may be turned into."""
    if isinstance(node, Num):
        v = node.value
        unit = Fraction(1, v.denominator) if v.denominator <= 10**12 else abs(v) / 1000
        moved = [
            v + unit,
            v - unit,
            v * Fraction(101, 100),
            v * Fraction(999, 1000),
            v + Fraction(1, 10**6),
            2 * v,
        ]
        return [App("neg", (node,)), *(Num(m) for m in rng.sample(moved, 3) if m >= 0)]
    if isinstance(node, Printed):
        unit = (node.hi - node.lo) * rng.choice((1, 2, -1, -2, 10))
        middle = (node.hi + node.lo) / 2 + unit
        places = len(node.text.partition(".")[2])
        text = f"{'-' if middle < 0 else ''}{abs(round(middle * 10**places)):0{places + 1}d}"
        text = f"{text[:-places]}.{text[-places:]}" if places else text
        return [Printed(text, node.lo + unit, node.hi + unit)] if middle >= 0 and "e" not in node.text else []
    if isinstance(node, Rel):
        k = rng.randrange(len(node.ops))
        other = rng.choice(_RELATIONS[node.ops[k]])
        return [Rel((*node.ops[:k], other, *node.ops[k + 1 :]), node.terms)]
    if isinstance(node, App):
        found: list[Node] = [App(h, node.args) for h in _HEADS.get(node.head, ())]
        if node.head == "add":
            k = rng.randrange(len(node.args))
            found.append(App("add", (*node.args[:k], App("neg", (node.args[k],)), *node.args[k + 1 :])))
        return found
    if isinstance(node, Extremum) and node.op in _EXTREMA:
        return [Extremum(_EXTREMA[node.op], node.body, node.scope)]
    if isinstance(node, Pred) and node.name in _PREDICATES:
        return [Pred(_PREDICATES[node.name], node.body, node.scope)]
    if isinstance(node, IntervalSet):
        return [IntervalSet(node.lo, node.hi, not node.lo_closed, not node.hi_closed)]
    if isinstance(node, Const) and node.name in ("pi", "e"):
        return [Const({"pi": "e", "e": "pi"}[node.name])]
    return []


def damaged(claim: Claim, rng: random.Random) -> Claim | None:
    """The claim with one of its nodes damaged; literals are as likely as all the rest together."""
    places = [n for n in claim.walk() if _damages(n, random.Random(0))]
    literals = [n for n in places if isinstance(n, Num | Printed)]
    if not places:
        return None
    chosen = rng.choice(literals if literals and rng.random() < 0.5 else places)
    options = _damages(chosen, rng)
    if not options:
        return None
    put, done = rng.choice(options), False

    def visit(node: Node) -> Node:
        nonlocal done
        if not done and node is chosen:
            done = True
            return put
        found = rebuild(node, visit)
        assert isinstance(found, Node)
        return found

    found = visit(claim)
    assert isinstance(found, Claim)
    return found


def cases(seed: int, count: int) -> Iterator[tuple[Statement, str]]:
    """Statements that were true, and the text of each after the damage; deterministic for a seed."""
    rng = random.Random(f"damage {seed}")
    made = 0
    while made < count:
        statement = rng.choice(true_statements())
        extra = statement.definitions()
        claim = damaged(parse_claim(statement.formal, extra), rng)
        if claim is None:
            continue
        text = to_text(claim)
        try:
            if parse_claim(text, extra) == parse_claim(statement.formal, extra):
                continue
        except FormulaError:
            continue
        made += 1
        yield statement, text


class Late(BaseException):
    """The clock rang; no Exception, so that no engine code takes it for one of its own."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise Late in the block after some seconds."""

    def ring(_signal: int, _frame: object) -> None:
        raise Late

    with alarm(seconds, ring):
        yield


def verdict(statement: Statement, text: str) -> str:
    """What the engine says of the damaged statement; ``time`` where the clock ended it."""
    try:
        with within(SECONDS):
            return decide(Reading("", text, define=statement.define), BUDGET).verdict
    except Late:
        return "time"


def contradicted(statement: Statement, text: str) -> bool | None:
    """Whether sampling contradicts the damaged statement; None where the clock ended it."""
    extra = statement.definitions()
    claim = parse_claim(text, extra)
    if extra:
        # The oracle knows no names of a claims file: those are written out, all others stay.
        written = expand_node(claim, extra)
        assert isinstance(written, Claim)
        claim = written
    try:
        with within(SECONDS):
            return contradiction(claim) is not None
    except Late:
        return None


def false_suggestions(seed: int, count: int) -> tuple[int, list[str]]:
    """How many refuted statements came with a nearest true one, and which of these sampling contradicts."""
    made = 0
    wrong: list[str] = []
    for statement, text in cases(seed, count):
        if verdict(statement, text) != "refuted":
            continue
        try:
            with within(SECONDS):
                found = nearest(Reading("", text, define=statement.define), BUDGET)
        except Late:
            continue
        made += found is not None
        if found is not None and contradicted(statement, found["formal"]):
            wrong.append(f"{text} | {found['formal']}")
    return made, wrong


def judged(seed: int, count: int) -> tuple[Counter[str], list[str]]:
    """How the engine did, and the damaged statements that it proved though sampling contradicts them."""
    score: Counter[str] = Counter()
    wrong: list[str] = []
    for statement, text in cases(seed, count):
        said = verdict(statement, text)
        false = contradicted(statement, text)
        word = {True: "false by sampling", False: "not seen to be false", None: "not sampled"}[false]
        score[f"{word}: {said}"] += 1
        if said in PASSED and false:
            wrong.append(f"{statement.formal} | {text}")
    return score, wrong
