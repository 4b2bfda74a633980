"""A run from its configuration to its files."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateproof.kernels.runs import catalogue, files, folder, job, keys, schedule, settings, table
from gateproof.kernels.runs.experiment import Experiment, Finding, Job, Summary
from gateproof.kernels.runs.progress import Progress
from gateproof.kernels.runs.refused import RunRefusedError, RunStoppedError

#: Called with a progress line whenever there is news.
Watch = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """All that a run consists of, before anything is written."""

    experiment: Experiment
    configuration: catalogue.Configuration
    settings: Any
    jobs: Mapping[str, Job]
    module: str

    @property
    def document(self) -> dict[str, Any]:
        """What run.json says of it."""
        plain = settings.plain(self.settings)
        return {
            "experiment": self.experiment.name,
            "preset": self.configuration.preset,
            "evidence": self.configuration.evidence,
            "configuration": files.strict(plain),
            "configuration_hash": keys.digest([self.experiment.name, plain]),
            "code": keys.code(self.module),
            "versions": keys.versions(),
            "inputs": inputs(self),
        }


@dataclass
class Outcome:
    """How a run ended: what is finished, what failed and why, and the summary if there are rows."""

    run: Mapping[str, Any]
    jobs: Sequence[Mapping[str, Any]]
    total: int
    failed: Mapping[str, str] = field(default_factory=dict)
    summary: Summary | None = None
    #: One line, where the run was stopped by something else than Ctrl-C.
    stopped: str = ""
    again: bool = True
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether every job is finished."""
        return len(self.jobs) == self.total

    @property
    def findings(self) -> Sequence[Finding]:
        """What the run says to claims."""
        return self.summary.findings if self.summary is not None else ()


def plan(name: str, configuration: catalogue.Configuration) -> Plan:
    """Read a configuration to its jobs. Raises RunRefusedError."""
    experiment = catalogue.load(name)
    read = catalogue.read_settings(experiment, configuration)
    try:
        experiment.needs(read)
        jobs = list(experiment.jobs(read))
    except RunRefusedError:
        raise
    except ValueError as error:
        raise RunRefusedError(str(error).splitlines()) from None
    if not jobs:
        raise RunRefusedError(f"{configuration.path}: these settings have no job at all")
    module = catalogue.module_of(name)
    return Plan(experiment, configuration, read, _keyed(jobs, keys.code(module)), module)


def _keyed(jobs: Sequence[Job], code: str) -> dict[str, Job]:
    """The jobs by what names their files."""
    found = {keys.digest([code, one.name, one.settings])[:24]: one for one in jobs}
    if len({one.name for one in jobs}) < len(jobs) or len(found) < len(jobs):
        raise AssertionError("two jobs have one name")
    return found


def reopened(out: Path) -> tuple[Plan, Outcome]:
    """A run of a preset of the package as its folder holds it, summarised again from the jobs' own files.

    Nothing is run, and the data need not be at hand. Raises RunRefusedError where the preset is another now.
    """
    run = folder.read(out)
    name = str(run["experiment"])
    configuration = catalogue.preset(name, str(run["preset"]))
    experiment = catalogue.load(name)
    read = catalogue.read_settings(experiment, configuration)
    if keys.digest([name, settings.plain(read)]) != run["configuration_hash"]:
        raise RunRefusedError(
            f"{out}: its configuration is not that of {configuration.path.name} as it is now"
        )
    jobs = _keyed(experiment.jobs(read), run["code"])
    made = Plan(experiment, configuration, read, jobs, catalogue.module_of(name))
    outcome = Outcome(run, finished(made, out), len(jobs))
    if outcome.complete:
        outcome.summary = experiment.summarise(read, table.merged(outcome.jobs))
    return made, outcome


def inputs(made: Plan) -> list[dict[str, Any]]:
    """What a record of this run depends on: files of the package, data, libraries."""
    parts = [path for name in keys.closure(made.module) if (path := keys.path_of(name)) is not None]
    parts = [path for path in parts if catalogue.HERE in path.parents]
    names = {path.relative_to(keys.PACKAGE).as_posix() for path in [*parts, catalogue.HERE / "job.py"]}
    names |= set(made.experiment.sources)
    found: list[dict[str, Any]] = [
        {"file": f"gateproof/{name}", "sha256": _hash(keys.PACKAGE / name)} for name in sorted(names)
    ]
    outside = {f"data {name}": value for name, value in made.experiment.data(made.settings).items()}
    outside |= {f"{name} {v}": keys.digest([name, v]) for name, v in keys.versions().items()}
    return found + [{"file": None, "what": what, "sha256": value} for what, value in outside.items()]


def _hash(path: Path) -> str:
    import hashlib

    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise AssertionError(f"{path}: {error.strerror}, and it is named as a source") from None


def run(
    made: Plan,
    out: Path,
    *,
    processes: int,
    scheduler: str | None = None,
    criteria: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Do what is not done yet, and write results.parquet, summary.json and figure.svg.

    ``criteria`` are kept in run.json as they are now, if the run has not begun before. Raises
    RunRefusedError. At Ctrl-C and on a full disk jobs have time to save, and what is finished stays.
    """
    out = out.resolve()
    with folder.locked(out):
        began = {"started": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            started = folder.started(out, {**made.document, "criteria": dict(criteria or {}), **began})
        except OSError as error:
            raise RunRefusedError(f"{out}: {error.strerror}; give another --out") from None
        outcome = Outcome(started, (), len(made.jobs))
        try:
            outcome.failed = _work(made, out, processes, scheduler, watch)
        except RunStoppedError as error:
            outcome.stopped, outcome.again = str(error), error.again
        except KeyboardInterrupt:
            outcome.interrupted = True
        outcome.jobs = finished(made, out)
        try:
            files.write(made, out, outcome)
        except OSError as error:
            if error.errno not in job.FULL:
                raise
            outcome.stopped = outcome.stopped or f"{out}: {error.strerror}"
        return outcome


def _work(
    made: Plan, out: Path, processes: int, scheduler: str | None, watch: Watch | None
) -> dict[str, str]:
    """Do the jobs that are not done; what failed, by the job's name."""
    run_id = uuid.uuid4().hex[:12]
    for old in out.glob(".stop-*"):
        old.unlink(missing_ok=True)
    code = keys.code(made.module)
    done = frozenset(key for key in made.jobs if job.finished(out, key) is not None)
    tasks = [
        {"module": made.module, "name": one.name, "settings": dict(one.settings), "key": key,
         "folder": str(out), "code": code, "run": run_id}
        for key, one in made.jobs.items() if key not in done
    ]  # fmt: skip
    if not tasks:
        return {}
    names = {key: one.name for key, one in made.jobs.items()}
    progress = Progress({key: one.cost for key, one in made.jobs.items()}, names, done)

    def tell(key: str, share: float, text: str, end: bool) -> None:
        progress.tell(key, share, text, end=end)
        if watch is not None:
            watch(progress.line())

    flag: list[Path] = []

    def stop() -> None:
        flag.append(folder.ask_to_stop(out, run_id))

    try:
        with schedule.workers(min(processes, len(tasks)), scheduler) as client:
            ended = schedule.run(client, tasks, tell, stop)
    finally:
        for path in flag:
            # The workers of a scheduler elsewhere may still have to see it.
            if scheduler is None:
                path.unlink(missing_ok=True)
    return {names[end["key"]]: end["text"] for end in ended if end["status"] != "finished"}


def finished(made: Plan, out: Path) -> list[dict[str, Any]]:
    """What the finished jobs of a folder left, in the order of the jobs."""
    found = [job.finished(out, key) for key in made.jobs]
    return [data for data in found if data is not None]
