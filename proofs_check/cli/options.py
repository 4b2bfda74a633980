"""The options that every command takes, before or after its name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.cli.parser import Parser, seconds, whole

if TYPE_CHECKING:
    from gateproof.proofs_check.records import Settings

DEFAULTS = {
    "json": False,
    "jobs": None,
    "seed": 0,
    "precision": None,
    "no_cache": False,
    "timeout": None,
}


def add_common(parser: Parser) -> None:
    """Add the options; one that is not given leaves no trace, so that both places count."""
    group = parser.add_argument_group("options of every command")

    def add(*names: str, **how: Any) -> None:
        parser.noted(group.add_argument(*names, default=argparse.SUPPRESS, **how))

    add("--json", action="store_true", help="print JSON on stdout")
    add(
        "-j",
        "--jobs",
        dest="jobs",
        metavar="N",
        type=whole(1, 1024),
        help="decide with N processes (1: in this one; default: one a core)",
    )
    add("--seed", metavar="N", type=whole(0, 2**63 - 1), help="seed of all that is random (0)")
    add(
        "--precision",
        metavar="BITS",
        type=whole(64, 100_000),
        help="most bits of a ball (what the digits need)",
    )
    add(
        "--timeout",
        metavar="S",
        type=seconds,
        help="seconds, to stop what hangs: for one reading (60); certify: for the formula (60); "
        "fit, meanfield, run: for all of it (none); verify has no limit",
    )
    add("--no-cache", action="store_true", help="decide everything anew")


#: Settings of a project that are options of commands on claims; an option that is given wins.
OF_PROJECT = ("jobs", "seed", "precision", "timeout")


def with_project(options: argparse.Namespace) -> argparse.Namespace:
    """The options, with the project's settings where the command line gives none. Raises RefusedError."""
    from gateproof.proofs_check.project import find

    values = find().values
    found = argparse.Namespace(**vars(options))
    for name in OF_PROJECT:
        if name in values and name not in options.explicit:
            setattr(found, name, values[name])
    found.boxes = values.get("boxes")
    return found


def settings(options: argparse.Namespace) -> Settings:
    """Return what a decision may depend on, from the options."""
    from gateproof.proofs_check.records import Settings

    default = Settings()
    return Settings(
        digits=getattr(options, "digits", None) or default.digits,
        boxes=getattr(options, "boxes", None) or default.boxes,
        max_bits=options.precision,
        seed=options.seed,
        wall_seconds=options.timeout or default.wall_seconds,
    )
