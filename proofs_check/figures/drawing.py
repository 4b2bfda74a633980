"""Scripts of the folder ``figures`` and the files that they make: NAME.svg, NAME.png and NAME.md.

A script gives ``numbers()``, all that is drawn, computed by this package; ``draw(figure, found)``; and
``caption(found)``, Markdown with units and sources, in which figures come from ``found`` too. ``SIZE`` is the
width and height in inches. Instead of ``draw`` a script may give ``made(found)``, the whole figure. The same
sources and the same libraries give the same bytes, but for a script with ``PER_CPU = True``: what it measures
is the CPU's.
"""

from __future__ import annotations

import importlib.util
import io
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import active_children, get_context
from pathlib import Path
from textwrap import fill
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from gateproof.numerics.atomic import write_bytes
from gateproof.proofs_check.figures.style import SETTINGS
from gateproof.proofs_check.refused import RefusedError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (7.0, 3.4)
DPI = 120
SUFFIXES = (".svg", ".png", ".md")
#: The first line of the table of figures in README.md.
HEAD = "| figure | shows |"
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "gateproof"},
    ".png": {"Software": None},
}


@dataclass(frozen=True)
class Drawn:
    """A figure's files, by suffix."""

    name: str
    files: Mapping[str, bytes]


def folder() -> Path:
    """The folder of the scripts, beside the sources. Raises RefusedError where there are no sources."""
    # `theory` is a link to the folder at the root, beside which the scripts stand.
    found = Path(__file__).resolve().parents[2] / "figures"
    if not (found / "README.md").is_file():
        raise RefusedError(
            "figures are drawn where the sources are: run this in a checkout (figures/ holds one script each)"
        )
    return found


def names() -> list[str]:
    """The figures that there are, in alphabetical order."""
    return sorted(path.stem for path in folder().glob("[a-z]*.py"))


def script(name: str) -> ModuleType:
    """The script of one of ``names()``, as a module."""
    path = folder() / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"gateproof_figure_{name}", path)
    if spec is None or spec.loader is None:
        raise RefusedError(f"{path}: no script")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def need_matplotlib() -> None:
    """Raise RefusedError where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise RefusedError("figures need matplotlib: pip install 'gateproof[report]'")


def drawn(name: str) -> Drawn:
    """Compute and draw one of ``names()``; nothing is written."""
    need_matplotlib()
    try:
        module = script(name)
        _complete(name, module)
        found = module.numbers()
    except ModuleNotFoundError as error:
        raise RefusedError(f"figure {name}: needs {error.name}: pip install 'gateproof[all]'") from None
    return rendered(name, module, found)


def _complete(name: str, module: ModuleType) -> None:
    """Raise RefusedError where a script lacks a part."""
    wanted = {
        "numbers()": ("numbers",),
        "draw(figure, found)": ("draw", "made"),
        "caption(found)": ("caption",),
    }
    missing = [said for said, names in wanted.items() if not any(hasattr(module, one) for one in names)]
    if missing:
        raise RefusedError(f"figure {name}: its script lacks {', '.join(missing)}; c0.py has all parts")


def rendered(name: str, module: ModuleType, found: Mapping[str, Any]) -> Drawn:
    """Draw what the script's ``numbers()`` gave; nothing is written."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast("Any", SETTINGS))
        if hasattr(module, "made"):
            figure = module.made(found)
        else:
            figure = Figure(figsize=getattr(module, "SIZE", SIZE), layout="constrained")
            module.draw(figure, found)
        files = {suffix: _saved(figure, suffix) for suffix in METADATA}
    title = (module.__doc__ or name).strip().splitlines()[0].rstrip(".")
    paragraphs = [fill(" ".join(part.split()), 110) for part in module.caption(found).strip().split("\n\n")]
    text = "\n\n".join([f"# {title}", f"![{title}]({name}.svg)", *paragraphs])
    return Drawn(name, {**files, ".md": (text + "\n").encode("utf-8")})


def all_drawn(chosen: Sequence[str], jobs: int) -> Iterator[Drawn]:
    """Draw several, in this process or in ``jobs`` others, in the order given."""
    if jobs < 2 or len(chosen) < 2:
        yield from map(drawn, chosen)
        return
    size, context = min(jobs, len(chosen)), get_context("spawn")
    with ProcessPoolExecutor(size, mp_context=context, initializer=_deaf) as pool:
        waiting = [pool.submit(drawn, name) for name in chosen]
        try:
            for one in waiting:
                yield one.result()
        except BaseException:
            # The pool drops what waits by itself: futures that others cancel make its thread complain.
            pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                process.terminate()
            raise


def _deaf() -> None:
    """Ctrl-C reaches a whole group of processes; the first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _saved(figure: Figure, suffix: str) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format=suffix[1:], dpi=DPI, metadata=METADATA[suffix])
    return out.getvalue()


def write(found: Drawn, out: Path) -> list[Path]:
    """Write a figure's files into a folder, each of them whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix, data in found.files.items():
        path = out / f"{found.name}{suffix}"
        write_bytes(path, data)
        paths.append(path)
    return paths


def listed(found: Drawn) -> bool:
    """Whether README.md of the folder of scripts has a row for the figure, or no table of them."""
    lines = (folder() / "README.md").read_text(encoding="utf-8").splitlines()
    return HEAD not in lines or any(line.startswith(_start(found.name)) for line in lines)


def enlist(found: Drawn) -> None:
    """Give a figure without one its row in README.md, below the others."""
    if listed(found):
        return
    path = folder() / "README.md"
    lines = path.read_text(encoding="utf-8").splitlines()
    end = lines.index(HEAD)
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    title = found.files[".md"].decode("utf-8").splitlines()[0].removeprefix("# ")
    lines.insert(end, f"{_start(found.name)} {title} |")
    write_bytes(path, ("\n".join(lines) + "\n").encode("utf-8"))


def _start(name: str) -> str:
    return f"| [{name}]({name}.md) |"


def differing(found: Drawn, out: Path) -> list[str]:
    """The files of a figure that are missing in a folder or hold something else."""
    wrong = []
    for suffix, data in found.files.items():
        path = out / f"{found.name}{suffix}"
        if not path.is_file() or path.read_bytes() != data:
            wrong.append(path.name)
    return wrong
