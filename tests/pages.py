"""Commands with their output, as pages show them, run and compared."""

from __future__ import annotations

import re
import shlex

from gateproof.proofs_check.cli import main


def commands(page):
    """The indented blocks of a page that begin with a command of ours, one for each command."""
    blocks = re.findall(r"^ {4,}\$ gateproof .*\n(?:^ {4,}\S.*\n|^\n(?= {4,}\S))*", page, re.MULTILINE)
    parts = (re.split(r"(?=^ {4,}\$ gateproof )", block, flags=re.MULTILINE) for block in blocks)
    return [one.strip() for part in parts for one in part if one.strip()]


def first_line(block):
    """The name of a block in a list of tests."""
    return block.split("\n")[0][:40]


def plain(text):
    """The text with one space for several, and none at the ends."""
    return re.sub(r"\s+", " ", text).strip()


def run(block, capsys):
    """What is shown below the command of a block, and what the command prints.

    ``a > /dev/null && gateproof b | grep -e c`` is understood; each command must end with 0.
    """
    command, _, shown = block.removeprefix("$ gateproof ").partition("\n")
    *before, last = command.split(" && gateproof ")
    for one in before:
        assert main(shlex.split(one.removesuffix(" > /dev/null"))) == 0
        capsys.readouterr()
    given, _, filtered = last.partition(" | grep ")
    assert main(shlex.split(given)) == 0
    printed = capsys.readouterr().out
    if filtered:
        wanted = shlex.split(filtered)
        assert set(wanted[::2]) == {"-e"}
        printed = "\n".join(s for s in printed.split("\n") if any(re.search(w, s) for w in wanted[1::2]))
    return shown, printed


def holds_in_order(shown, printed):
    """The first line that is shown and not printed after those before it; None where all are.

    A line ``...`` stands for any lines, and so does the end.
    """
    rest = iter([plain(line) for line in printed.split("\n")])
    for line in (plain(line) for line in shown.split("\n")):
        if line not in ("", "...") and line not in rest:
            return line
    return None
