"""The natural statements on every activation of the zoo, and near misses, are decided as calculus says.

``zoo_statements.txt`` is made by :mod:`zoo_statements`, by hand and by mpmath. A mark with ``~`` stands
for a statement that is known not to be decided: it may be inconclusive, never wrong.
"""

from __future__ import annotations

import collections
from pathlib import Path

import pytest
import zoo_statements
from known_zoo import ZOO

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.activations import zoo

TABLE = Path(__file__).with_name("zoo_statements.txt")
VERDICTS = {"proved": "T", "certified": "T", "refuted": "F", "ill-posed": "I", "inconclusive": "?"}
#: One line in so many is decided without asking for the deep tests.
STRIDE = 12
#: Of these, what takes several seconds and is left to the deep tests.
SLOW = {
    "for a > 0: sup(isru(x, a), x in R) == 1/sqrt(a)",
    "continuous(silu_smooth_attenuation(x), x in R)",
}
#: Statements that no method decides yet.
MOST_UNDECIDED = 24


def table() -> dict[str, list[tuple[str, str]]]:
    """Marks and statements by the call that they are about."""
    groups: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    call = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("# "):
            call = line[2:]
            continue
        mark, statement = line.split(" ", 1)
        groups[call].append((mark, statement))
    return groups


def wrong(lines: list[tuple[str, str]]) -> list[str]:
    """The lines that are decided otherwise, or not decided where no ``~`` allows it."""
    found = []
    for mark, statement in lines:
        got = VERDICTS[decide(Reading("x", statement), Settings()).verdict]
        if got != mark[0] and not (got == "?" and mark.endswith("~")):
            found.append(f"{statement}: {got} instead of {mark}")
    return found


GROUPS = table()


@pytest.mark.parametrize("call", GROUPS)
def test_every_call_in_short(call):
    lines = GROUPS[call][len(call) % STRIDE :: STRIDE]
    assert lines
    assert not wrong([line for line in lines if line[1] not in SLOW])


def test_what_is_left_to_the_deep_tests_is_in_the_table():
    assert {statement for lines in GROUPS.values() for _, statement in lines} >= SLOW


@pytest.mark.deep
@pytest.mark.parametrize("call", GROUPS)
def test_every_statement(call):
    assert not wrong(GROUPS[call])


def test_what_is_not_decided_is_counted():
    marks = [mark for lines in GROUPS.values() for mark, _ in lines]
    open_ = sum(mark.endswith("~") for mark in marks)
    print(f"{len(marks)} statements on {len(GROUPS) - 1} calls, {open_} of them not decided")
    assert open_ <= MOST_UNDECIDED
    assert len(marks) > 3000


def test_every_activation_is_in_the_table():
    calls = [call for call in GROUPS if call in ZOO]
    assert {call.split("(")[0] for call in calls} == set(zoo())


@pytest.mark.deep
def test_the_table_is_what_calculus_and_mpmath_say():
    assert list(zoo_statements.lines()) == TABLE.read_text().splitlines()


def test_a_wrong_mark_is_caught():
    assert wrong([("F", "for x in R: silu(x) == x*sigmoid(x)")])
    assert wrong([("T~", "for x in R: silu(x) == x*sigmoid(2*x)")])
    assert not wrong([("T~", "for x in R: silu(x) == x*sigmoid(x)")])
