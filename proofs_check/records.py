"""The records that pass between the claims files, the engine and the reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

VERDICTS = (
    "proved",
    "certified",
    "refuted",
    "supported",
    "unsupported",
    "ill-posed",
    "inconclusive",
    "not-run",
)


#: How a nearest true statement differs from the refuted one.
NEAREST = ("attained", "constant", "value", "set", "domain", "sign", "factor", "direction", "distance")


@dataclass(frozen=True)
class Reading:
    """One formal reading of a claim, as its file gives it.

    ``controls`` are near misses in the language; ``pin`` is the verdict last accepted
    by a person and never feeds the verdict. ``text`` of the definitions is kept in
    ``define`` as name -> formula in x.

    ``evidence`` names a record or certificate of the evidence store and ``needs`` says in
    words what makes it. With ``by_criterion`` the ``formal`` text is a criterion over the
    record's numbers; without it a statement that the certificate proves. ``proof`` is the
    certificate's file and sha256, once it is found. ``code`` is the module, the name and the place
    among its claims of a decorated function, which ``formal`` is then held against.
    """

    name: str
    formal: str
    pin: str | None = None
    controls: tuple[str, ...] = ()
    meaning: str = ""
    define: Mapping[str, str] = field(default_factory=dict)
    evidence: str = ""
    needs: str = ""
    by_criterion: bool = False
    proof: tuple[str, str] | None = None
    code: tuple[str, str, int] | None = None


@dataclass(frozen=True)
class ClaimSpec:
    """One claim of a claims file: permanent id, paper and place, what it says, what it rests on.

    ``line`` counts from 1 in ``file``; 0 where it is not known.
    """

    id: str
    readings: tuple[Reading, ...]
    paper: str = ""
    where: str = ""
    says: str = ""
    latex: str = ""
    correction: str | None = None
    file: str = ""
    line: int = 0
    uses: tuple[str, ...] = ()
    ours: bool = False


@dataclass(frozen=True)
class Settings:
    """What a decision may depend on; work budgets are counts, never seconds."""

    digits: int = 15
    boxes: int = 20_000
    max_bits: int | None = None  # as many as the digits need
    seed: int = 0
    wall_seconds: float = 60.0


@dataclass(frozen=True)
class Controls:
    """How many near misses were planted for a reading, and how many were caught."""

    planted: int = 0
    caught: int = 0
    missed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """The verdict on one reading and everything it rests on.

    ``value`` is an outward rounded enclosure of the decided number, as decimal
    strings; ``nearest`` is a true statement near a refuted one, with its own verdict and
    the kind of change; ``witness`` maps names to exact rationals (or an exact expression) where
    the statement fails; ``certificate`` is the certificate document itself (reports
    store it beside and name its file); ``reason`` says why nothing was decided.
    """

    verdict: str
    method: str = ""
    trust: tuple[str, ...] = ()
    value: Mapping[str, str] | None = None
    witness: Mapping[str, str] | None = None
    controls: Controls = Controls()
    certificate: Mapping[str, Any] | None = None
    steps: tuple[str, ...] = ()
    reason: str = ""
    nearest: Mapping[str, str] | None = None
    evidence: Mapping[str, Any] | None = None
