"""One hostile input: refused in one line or read, in little time, and nothing evaluated or written."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gateproof.proofs_check.claims_file import load
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, expand_node, parse_claim, parse_expr, to_text
from gateproof.theory.formula.nodes import Node

Reader = Callable[[str], Node]
#: CPU seconds that one input may take.
MOST_SECONDS = 1.0
_FORBIDDEN = ("exec", "compile", "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "import", "code.")


class Touched(BaseException):
    """Something was evaluated, imported, started or written; no Exception, so nothing swallows it."""


_watching = False


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching:
        return
    if event == "open":
        mode = str(arguments[1] or "r")
        if any(letter in mode for letter in "wax+"):
            raise Touched(f"open for writing: {arguments[0]}")
    elif event.startswith(_FORBIDDEN):
        raise Touched(event)


sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[None]:
    """Raise Touched for what a reader of data has no business to do."""
    global _watching
    _watching = True
    try:
        yield
    finally:
        _watching = False


def warm_up() -> None:
    """Have everything imported that reading imports when it is first needed."""
    import gateproof.theory
    from gateproof.theory.formula import arities

    for module in pkgutil.walk_packages(gateproof.theory.__path__, "gateproof.theory."):
        importlib.import_module(module.name)
    arities()
    for text in ("for x in R: silu(x) == x*sigmoid(x)", "for x in R: sliu(x) > 0", "gauss(z, z, q=1) == 0"):
        with suppress(FormulaError):
            expand_node(parse_claim(text))


class Tally:
    """What became of the inputs, and the slowest of them."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.slowest = (0.0, "")

    @contextmanager
    def timed(self, shown: str) -> Iterator[None]:
        """Note the CPU time of one step with an input. Raises AssertionError beyond the limit."""
        started = time.process_time()
        yield
        seconds = time.process_time() - started
        if seconds > self.slowest[0]:
            self.slowest = seconds, shown[:200]
        assert seconds <= MOST_SECONDS, f"{seconds:.2f} s for {shown[:300]!r}"


def try_formula(text: str, tally: Tally) -> None:
    """Read a text as a claim and as an expression. Raises AssertionError, or what the reader let through."""
    for reader in (parse_claim, parse_expr):
        node: Node | None = None
        with tally.timed(text):
            try:
                with watched():
                    node = reader(text)
            except FormulaError as error:
                _refusal(error, text)
        if reader is parse_claim:
            tally.counts["refused" if node is None else "read"] += 1
        if node is not None:
            with tally.timed(text):
                _round_trip(node, reader, text)
            with tally.timed(text):
                _expanded(node)


def _refusal(error: FormulaError, text: str) -> None:
    assert error.column is None or 1 <= error.column <= len(text) + 1, (error.column, text[:300])
    assert "\n" not in str(error), (str(error), text[:300])
    assert len(str(error)) < 600, (str(error)[:700], text[:300])


def _round_trip(node: Node, reader: Reader, text: str) -> None:
    printed = to_text(node)
    try:
        again = reader(printed)
    except FormulaError as error:
        shown = f"{text[:300]!r} prints as {printed[:300]!r}"
        raise AssertionError(f"{shown}, which is refused: {error}") from None
    assert again == node, f"{text[:300]!r} prints as {printed[:300]!r}, another tree"


def _expanded(node: Node) -> None:
    with suppress(FormulaError), watched():
        expand_node(node)


def try_file(data: bytes, path: Path, tally: Tally) -> None:
    """Load bytes as a claims file; the path must be free to be written."""
    path.write_bytes(data)
    with tally.timed(repr(data[:200])):
        try:
            with watched():
                claims = load([path])
        except RefusedError as error:
            tally.counts["refused"] += 1
            for line in error.lines:
                assert "\n" not in line, (line, data[:300])
                assert path.name in line or line.startswith("..."), (line, data[:300])
                assert len(line) < 2_000, (line[:500], data[:300])
        else:
            tally.counts["read"] += 1
            assert claims
