"""``gateproof run``: training experiments, in jobs that can be stopped at any time, and what they show."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.clock import clock, whole_imports
from gateproof.proofs_check.cli.parser import Parser, text
from gateproof.proofs_check.refused import FAILED, OK, RefusedError

if TYPE_CHECKING:
    from gateproof.kernels.runs.catalogue import Configuration
    from gateproof.kernels.runs.engine import Outcome, Plan

HELP = "train: the experiments that claims rest on, paired, seeded, to be stopped at any time"
DESCRIPTION = """\
Runs an experiment's jobs on this machine, or on a Dask cluster by its address:
  gateproof run                                        the experiments and their presets, and what each shows
  gateproof run depth --preset smoke --out runs/depth
  gateproof run depth --config mine.toml --out runs/mine
  gateproof run depth --preset tiny --out /shared/depth --scheduler tcp://10.0.0.1:8786
The same command goes on with a run that was stopped and does nothing twice. DIR holds results.parquet,
summary.json, figure.svg and claims.json; docs/runs.md says more.
"""
FILES = ("results.parquet", "summary.json", "figure.svg", "claims.json")
LIBRARIES = ("torch", "distributed", "pyarrow", "matplotlib")


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    add = parser.add_argument
    add("name", nargs="?", type=text, metavar="NAME", help="the experiment")
    add("--preset", type=text, metavar="P", help="a configuration of the package")
    add("--config", type=text, metavar="FILE", help="a configuration of yours (TOML)")
    add("--out", type=text, metavar="DIR", help="where results go; one run a folder")
    add("--scheduler", type=text, metavar="ADDRESS", help="a Dask scheduler that is running")


def run(options: argparse.Namespace) -> int:
    """Run, and say what came out; 0 where every job is finished."""
    with _refusing():
        configuration = _configuration(options)
        if configuration is None:
            return OK
        if options.seed:
            raise RefusedError("--seed: the seeds of a run stand in its configuration; give --config FILE")
        if options.out is None:
            raise RefusedError(f"give --out DIR, where the results of {options.name} go")
        _need_libraries()
        with whole_imports():
            from gateproof.kernels.runs import engine
        plan = engine.plan(options.name, configuration)
        _check_kernels(options, plan)
        return _run(options, plan)


@contextmanager
def _refusing() -> Iterator[None]:
    """The engine's refusals as this command line's."""
    from gateproof.kernels.runs.refused import RunRefusedError

    try:
        yield
    except RunRefusedError as error:
        raise RefusedError(error.lines) from None


def _configuration(options: argparse.Namespace) -> Configuration | None:
    """The configuration that was asked for; None where the list of them was, which is printed."""
    from gateproof.kernels.runs import catalogue

    if options.preset and options.config:
        raise RefusedError("give --preset or --config, not both")
    if options.name is None:
        if options.preset or options.config or options.out:
            raise RefusedError(f"give an experiment: {', '.join(catalogue.files())}")
        _print_list(options, list(catalogue.files()))
        return None
    catalogue.known(options.name)
    if options.config:
        path = Path(options.config)
        return catalogue.read(path, options.name, path.stem)
    if options.preset:
        return catalogue.preset(options.name, options.preset)
    if options.out:
        presets = ", ".join(catalogue.known(options.name))
        raise RefusedError(f"give --preset, one of {presets}, or --config FILE")
    _print_list(options, [options.name])
    return None


def _print_list(options: argparse.Namespace, names: list[str]) -> None:
    from gateproof.kernels.runs import catalogue

    found = [catalogue.preset(name, preset) for name in names for preset in catalogue.known(name)]
    if options.json:
        keys = ("experiment", "preset", "shows", "cannot", "evidence")
        entries = [{key: getattr(one, key) for key in keys} for one in found]
        output.put(json.dumps({"schema_version": 1, "presets": entries}, indent=1) + "\n")
        return
    for name in names:
        output.put(f"{name}\n")
        for one in found:
            if one.experiment == name:
                output.put(f"  --preset {one.preset:7} {one.shows}\n")
                output.put(f"{'':19}not: {one.cannot}\n" if one.cannot else "")


def _need_libraries() -> None:
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise RefusedError(f"{', '.join(missing)}: not installed; pip install 'gateproof[runs]'")


def _check_kernels(options: argparse.Namespace, plan: Plan) -> None:
    """Have the operations of the experiment checked, unless they have passed with this code. RefusedError."""
    from gateproof.kernels.check import passed
    from gateproof.proofs_check.cache import default_folder

    folder = default_folder()
    left = passed.left(None if options.no_cache else folder, plan.experiment.operations)
    if not left:
        return
    from gateproof.kernels.check.run import CODES, DTYPES, check

    output.note(f"checking {len(left)} kernels first, once for this code (gateproof kernels check)")
    results = list(check(left, [code for code in CODES if code != "compiled"], DTYPES))
    passed.note(folder, left, results)
    wrong = [f"{r.op} {r.direction} {r.dtype} {r.code}: {r.reason}" for r in results if r.passed is False]
    if wrong:
        raise KernelsFailedError(
            [*wrong[:3], "no run starts with kernels that fail: gateproof kernels check"]
        )


class KernelsFailedError(RefusedError):
    """A check failed before anything was run."""

    code = FAILED


def _run(options: argparse.Namespace, plan: Plan) -> int:
    from gateproof.kernels.runs import engine, schedule
    from gateproof.proofs_check.claims_file import load_packaged
    from gateproof.proofs_check.evidence import from_run

    claims, out = load_packaged(), Path(options.out)
    watch = output.watched if output.is_watched() and not options.json else None
    with clock(options.timeout):
        outcome = engine.run(
            plan,
            out,
            processes=options.jobs or schedule.default_processes(plan.settings),
            scheduler=options.scheduler,
            criteria=from_run.criteria(claims),
            watch=watch,
        )
    if watch is not None:
        output.watched("")
    document = claims_document(outcome, claims)
    if outcome.summary is not None:
        from gateproof.kernels.runs.folder import write_json

        try:
            write_json(out / "claims.json", document)
        except OSError as error:
            outcome.stopped = outcome.stopped or f"{out}: {error.strerror}"
    if options.json:
        output.put(json.dumps(_answer(plan, outcome, out, document), indent=1) + "\n")
    else:
        output.put("".join(f"{line}\n" for line in _lines(outcome, out, document)))
    return _code(outcome, out)


def claims_document(outcome: Outcome, claims: Any) -> dict[str, Any]:
    """claims.json: what the run says to the claims of the package."""
    from gateproof.proofs_check.evidence import from_run

    run = outcome.run
    command = from_run.command_of(run)
    said = from_run.decided(outcome.findings, run, claims, command) if outcome.complete else []
    return {
        "schema_version": 1,
        "experiment": run["experiment"],
        "preset": run["preset"],
        "configuration_hash": run["configuration_hash"],
        "code": run["code"],
        "complete": outcome.complete,
        "evidence": run["evidence"],
        "claims": [from_run.entry(one) for one in said],
    }


def _answer(plan: Plan, outcome: Outcome, out: Path, document: dict[str, Any]) -> dict[str, Any]:
    from gateproof.kernels.runs import files

    summary = None if outcome.summary is None else files.summary_document(plan, outcome)
    found = {"out": str(out), "complete": outcome.complete, "summary": summary, "claims": document["claims"]}
    return {"schema_version": 1, **found}


def _lines(outcome: Outcome, out: Path, document: dict[str, Any]) -> Iterator[str]:
    from gateproof.kernels.runs import table
    from gateproof.proofs_check import clean

    if outcome.summary is not None:
        for name, rows in outcome.summary.tables.items():
            yield name
            yield from (f"  {line}" for line in table.of_rows(list(rows)))
            yield ""
        yield from (clean.line(note, 600) for note in outcome.summary.notes)
    for one in document["claims"]:
        reason = f": {one['reason']}" if one["reason"] else ""
        yield clean.line(f"{one['id']}  {one['verdict']}  {one['reading']}{reason}", 600)
    if document["claims"] and not document["evidence"]:
        yield "this preset is no evidence: it shows that all runs, not what comes out at length"
    names = [
        n for n in ("results.parquet", "summary.json", "figure.svg", "claims.json") if (out / n).exists()
    ]
    if names:
        yield f"{out}: {', '.join(names)}"


def _code(outcome: Outcome, out: Path) -> int:
    """0 where all is done; else what is left is said, and how to go on."""
    from gateproof.kernels.runs.folder import shown

    done = f"{len(outcome.jobs)} of {outcome.total} jobs are finished"
    lines = [f"{name}: {why}" for name, why in list(outcome.failed.items())[:10]]
    if outcome.interrupted or outcome.stopped:
        first = outcome.stopped or "interrupted"
        lines.append(f"{first}; {done}{', and the same command goes on from there' if outcome.again else ''}")
    elif not outcome.complete:
        lines.append(f"{done}; the same command tries the others again ({shown(out)} has what they said)")
    if lines:
        output.complain(tuple(lines))
    return OK if outcome.complete and not outcome.stopped else FAILED
