"""The command line: finds the command, and turns every end into one of six exit codes."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType, ModuleType
from typing import NoReturn

from gateproof.proofs_check.cli import (
    certify,
    check,
    diff,
    doctor,
    evidence,
    explain,
    explore,
    figures,
    fit,
    kernels,
    meanfield,
    new,
    output,
    report,
    run,
    show,
    verify,
)
from gateproof.proofs_check.cli.options import DEFAULTS, add_common
from gateproof.proofs_check.cli.parser import MARK, Parser
from gateproof.proofs_check.refused import FAILED, INTERNAL, OK, USAGE, RefusedError

COMMANDS: dict[str, ModuleType] = {
    "report": report,
    "check": check,
    "show": show,
    "explain": explain,
    "verify": verify,
    "evidence": evidence,
    "certify": certify,
    "fit": fit,
    "meanfield": meanfield,
    "kernels": kernels,
    "run": run,
    "new": new,
    "explore": explore,
    "figures": figures,
    "diff": diff,
    "doctor": doctor,
}
FIRST = """\
first steps:
  gateproof fit gelu -k 3                                   a threshold gate, with a certified error
  gateproof meanfield tanh --sigma-b2 0.05 --eoc            the edge of chaos, certified
  gateproof certify "sup(abs(silu(x) - relu(x)), x in R)"   a value with certified digits
  gateproof check paper.claims.toml                         decide a file of claims
  gateproof show tg.gelu.k2                                 one claim with all its evidence

"""
#: Longer words are no misspelt commands; an end of an interval.
MAX_WORD = 40
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+|oo)", re.ASCII)
CODES = """\
exit codes:
  0 done, as pinned   1 drift or a failed check   2 usage or refused input
  3 internal error    4 inconclusive              5 nothing selected
"""


def build() -> tuple[Parser, dict[str, Parser]]:
    """Return the parser and those of the commands."""
    parser = Parser(
        prog=output.PROGRAM,
        description="Decides what papers claim about neural nonlinearities, with evidence.",
        epilog=FIRST + CODES,
    )
    parser.add_argument("--version", action="version", version=_version())
    add_common(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    found: dict[str, Parser] = {}
    for name, module in COMMANDS.items():
        sub = commands.add_parser(name, help=module.HELP, description=module.DESCRIPTION, epilog=CODES)
        module.add_arguments(sub)
        add_common(sub)
        found[name] = sub
    return parser, found


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line. Raises RefusedError, and SystemExit for help and version."""
    parser, commands = build()
    marked = parser.protect(words)
    place = next((k for k, word in enumerate(marked) if word in commands), None)
    if place is not None:
        marked = marked[: place + 1] + commands[marked[place]].protect(words[place + 1 :])
    else:
        _refuse_unknown(next((word for word in marked if not word.startswith("-")), ""))
    options, rest = parser.parse_known_args(marked)
    options.explicit = frozenset(vars(options))
    for name, value in DEFAULTS.items():
        if name not in options.explicit:
            setattr(options, name, value)
    if rest:
        _refuse_rest(commands.get(options.command, parser), [word.replace(MARK, "") for word in rest], words)
    if options.command is None:
        raise RefusedError(f"no command; give one of {', '.join(COMMANDS)} (see gateproof --help)")
    return options


def _refuse_unknown(word: str) -> None:
    """Raise RefusedError for a misspelt command; argparse has the words for anything else."""
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, 1, 0.6) if len(word) < MAX_WORD else []
    if near:
        raise RefusedError(f"{word!r} is no command; did you mean {near[0]}? (see gateproof --help)")


def _refuse_rest(parser: Parser, rest: Sequence[str], words: Sequence[str]) -> NoReturn:
    """Raise RefusedError for arguments that no command takes, with what may have been meant."""
    said = f"unrecognized arguments: {' '.join(rest)}"
    near = next((near for word in rest if word.startswith("--") and (near := parser.near(word))), "")
    if near:
        said += f"; did you mean {near}?"
    elif "--domain" in words and "--domain" in parser.takes_value:
        lo, hi = [*words[words.index("--domain") + 1 :], "", ""][:2]
        if _NUMBER.fullmatch(lo) and hi in rest and _NUMBER.fullmatch(hi):
            said += f'; give --domain "[{lo}, {hi}]"'
    parser.error(said)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; nothing else leaves this function."""
    output.plain_errors()
    words = [word.replace(MARK, "") for word in (sys.argv[1:] if argv is None else argv)]
    try:
        code = _run(words)
    except KeyboardInterrupt:
        output.complain(("interrupted: nothing was written",))
        code = FAILED
    try:
        output.flush()
    except output.UnwritableError as error:
        output.complain((str(error),))
        code = INTERNAL
    return code


def _run(words: Sequence[str]) -> int:
    try:
        options = parse(words)
        before = signal.getsignal(signal.SIGTERM)
        _on_sigterm(_interrupt)
        try:
            code: int = COMMANDS[options.command].run(options)
        finally:
            _on_sigterm(before)
    except RefusedError as error:
        output.complain(error.lines)
        return error.code
    except SystemExit as end:
        return OK if end.code in (None, 0) else USAGE
    except BrokenPipeError:
        return FAILED
    except output.UnwritableError as error:
        output.complain((str(error),))
        return INTERNAL
    except Exception as error:
        if os.environ.get("GATEPROOF_DEBUG"):
            import traceback

            traceback.print_exc()
        words_ = f"{type(error).__name__}: {error}".splitlines()[0]
        output.complain((f"internal error: {words_} (GATEPROOF_DEBUG=1 shows where)",))
        return INTERNAL
    return code


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _on_sigterm(handler: object) -> None:
    """End like Ctrl-C when asked to terminate: what was decided is kept."""
    # Not in the main thread, or a handler that was not set from Python: leave it.
    with suppress(ValueError, TypeError):
        signal.signal(signal.SIGTERM, handler)  # type: ignore[arg-type]


def _version() -> str:
    return f"{output.PROGRAM} {sys.modules['gateproof'].__version__}"
