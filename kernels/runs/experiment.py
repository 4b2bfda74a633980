"""What an experiment is: settings, independent jobs, and what their rows say together.

An experiment is one module ``kernels/runs/NAME.py`` (NAME with ``_`` for ``-``; helpers of its own in
``NAME_*.py`` or ``NAME_parts/``) that gives ``EXPERIMENT``, with ``presets/NAME.PRESET.toml`` for a preset:

    experiment = "depth"                # the experiment's name
    shows = "one line: what this run shows, on what, how long it takes"
    cannot = "one line: what it can not show"
    evidence = true                     # whether its findings may be accepted as records (smoke: false)

    [settings]                          # the fields of Experiment.settings
    seeds = [0, 1, 2]

A configuration of a user (``--config FILE``) has the same form. Everything else, the schedule,
checkpoints, tables, the command line, is the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A value of a row: what a column of a table can hold.
Cell = str | int | float | bool | None
Row = Mapping[str, Cell]


@dataclass(frozen=True)
class Job:
    """A piece of work that needs no other: one training, mostly.

    ``name`` is unique in a run and short (``depth=30 gate=tanh seed=0``); ``settings`` is plain JSON
    and holds all that the outcome depends on, seed included. ``cost`` is relative, for the time left.
    """

    name: str
    settings: Mapping[str, Any]
    cost: float = 1.0


class Kept(Protocol):
    """What a job may keep between stops; given to it by the engine."""

    def load(self) -> dict[str, Any] | None:
        """The state last saved, tensors and random states included, or None at a first start."""

    def due(self) -> bool:
        """Whether it is time to save again; cheap, to be asked every step."""
        raise NotImplementedError

    def save(self, state: Mapping[str, Any]) -> None:
        """Keep a state, whole or not at all."""

    def say(self, done: float, text: str = "") -> None:
        """Report the share of the job that is done, 0 to 1, and a few words."""


@dataclass(frozen=True)
class Interval:
    """An interval of a number over seeds (pairs, images), with how it was found and from how many."""

    lo: float
    hi: float
    level: float
    method: str
    n: int


@dataclass(frozen=True)
class Finding:
    """What a run says to the claims that name one record.

    ``record`` is that name (``mem.lm.tiny``); a criterion of a claim reads ``numbers`` by their names
    and ``intervals`` as X_lo and X_hi. ``ranges`` say over what was sampled.
    """

    record: str
    about: str
    intervals: Mapping[str, Interval]
    numbers: Mapping[str, float | int] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)
    seeds: Sequence[int] = ()


@dataclass(frozen=True)
class Summary:
    """What the rows of all jobs say together.

    ``tables`` are printed and written to ``summary.json`` by name, each a list of rows with the same
    columns; ``notes`` are single sentences that a reader of the tables needs.
    """

    tables: Mapping[str, Sequence[Row]]
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    settings: a frozen dataclass of ints, floats, strings, bools, ``Literal`` texts, ``tuple[T, ...]`` of
        these, or such dataclasses (alone or in a tuple); fields with a default may be left out. The
        engine reads a TOML table into it, checks types, and refuses unknown keys. Its
        ``__post_init__`` raises ValueError with what is wrong and what to give instead.
    jobs: all jobs of the settings, in the order to start them.
    run: one job, from ``Kept.load()`` if that is not None; returns its rows. Deterministic on CPU for
        the job's settings alone, and the same after any stop. Runs in a worker process of one thread.
    summarise: the rows of finished jobs (each with a column ``job``), some jobs maybe missing.
    figure: draws a summary; deterministic.
    needs: raises ValueError with one line (what is missing, how to get it) before anything starts.
    sources: the package's files that the outcome depends on, beside what this module imports from
        ``kernels/runs`` (``kernels/functional.py``): a record that is made from a run goes stale when one
        of them changes. The code version of a folder of results is wider, all that is imported.
    operations: names or globs of ``gateproof kernels check`` that must have passed before a run starts;
        all by default, none for an experiment that uses no operation of ``gateproof.kernels``.
    data: what the outcome depends on that is no file of the package, as name -> sha256.
    """

    name: str
    about: str
    settings: type
    jobs: Callable[[Any], Sequence[Job]]
    run: Callable[[Mapping[str, Any], Kept], Sequence[Row]]
    summarise: Callable[[Any, Sequence[Row]], Summary]
    figure: Callable[[Any, Sequence[Row], Summary], Figure]
    needs: Callable[[Any], None] = lambda settings: None
    sources: Sequence[str] = ()
    operations: Sequence[str] = ("*",)
    data: Callable[[Any], Mapping[str, str]] = lambda settings: {}
