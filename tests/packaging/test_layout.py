"""The folders import one way, stand behind links, and keep to absolute imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Each folder, and what of ours it may import.
LAYERS = {
    "theory": {"theory"},
    "numerics": {"theory", "numerics"},
    "kernels": {"theory", "numerics", "kernels"},
    "proofs_check": {"theory", "numerics", "kernels", "proofs_check"},
}


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every dotted name that a file imports, also inside functions and type-checking blocks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            # `from gateproof import theory` names a folder by its last part.
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def imports_of(folder: str) -> list[tuple[str, str]]:
    """Pairs of `file:line` and imported name for one of the four folders."""
    files = sorted((ROOT / folder).rglob("*.py"))
    return [
        (f"{path.relative_to(ROOT)}:{line}", name)
        for path in files
        for line, name in imported(ast.parse(path.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("folder", LAYERS)
def test_imports_run_one_way(folder):
    wrong = []
    for place, name in imports_of(folder):
        parts = name.split(".")
        # The door itself is no layer: a folder importing it could reach any other.
        if parts[0] == "gateproof" and parts[1] not in LAYERS[folder]:
            wrong.append(f"{place}: {name}")
    assert wrong == []


@pytest.mark.parametrize("folder", LAYERS)
def test_imports_are_absolute_and_through_the_package(folder):
    wrong = [
        f"{place}: {name}"
        for place, name in imports_of(folder)
        if name.startswith(".") or name.split(".")[0] in LAYERS
    ]
    assert wrong == []


HEAVY = {"torch", "triton", "jax", "numpy", "scipy", "mpmath", "matplotlib"}
# Fits are floating point through and through. Nothing outside of the folder loads it at once.
FITS = ("numerics/fits/", {"numpy", "scipy"})
# The mean field's engine at float speed is written in JAX; it too is loaded when it is asked for.
FAST = ("numerics/meanfield/fast", {"numpy", "jax"})
# The same by NumPy alone, and grids of the phase diagram.
PLAIN = ("numerics/meanfield/plain", {"numpy"})
PHASE = ("numerics/meanfield/phase_", {"numpy", "scipy"})
# Conversion decides and fits gates; who converts has loaded torch.
CONVERT = ("kernels/convert/", {"torch", "numpy", "scipy"})
# Experiments are run where torch is; the command finds them by their files and loads one when asked.
RUNS = ("kernels/runs/", {"torch", "numpy", "scipy"})
# Code that a person wrote for arrays is called with arrays.
CODE = ("proofs_check/code/", {"numpy"})
OWN = (FITS, FAST, PLAIN, PHASE, CONVERT, RUNS, CODE)


def loaded_at_once(tree: ast.Module) -> Iterator[str]:
    """The names that importing the file imports: those outside of functions and type-checking blocks."""
    queue: list[ast.AST] = list(tree.body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (name for _, name in imported(node))
        queue.extend(ast.iter_child_nodes(node))


def own_libraries(path: str) -> set[str]:
    """What files of a folder may load although they are heavy."""
    return next((libraries for start, libraries in OWN if path.startswith(start)), set())


@pytest.mark.parametrize("folder", sorted(set(LAYERS) - {"kernels"}))
def test_only_kernels_loads_torch_and_the_like_at_once(folder):
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in loaded_at_once(ast.parse(path.read_text(encoding="utf-8")))
        if name.split(".")[0] in HEAVY - own_libraries(str(path.relative_to(ROOT)))
    ]
    assert wrong == []


@pytest.mark.parametrize("start", [start for start, _ in OWN])
def test_what_loads_heavy_libraries_is_loaded_when_asked_for(start):
    module = "gateproof." + start.rstrip("/").replace("/", ".")
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for folder in LAYERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        # A file that may load as much itself adds nothing.
        if not own_libraries(str(path.relative_to(ROOT))) >= own_libraries(start)
        for name in loaded_at_once(ast.parse(path.read_text(encoding="utf-8")))
        if name.startswith(module)
    ]
    assert wrong == []


def test_torch_stands_in_two_files_outside_kernels():
    places = {
        place.partition(":")[0]
        for folder in set(LAYERS) - {"kernels"}
        for place, name in imports_of(folder)
        if name.split(".")[0] in {"torch", "triton"}
    }
    # The second fills the weights of a caller's module.
    assert places == {"numerics/backends/with_torch.py", "numerics/meanfield/initialise_torch.py"}


def test_reader_of_what_loads_at_once():
    source = (
        "import a\nclass C:\n    import b\ndef f():\n    import c\n"
        "try:\n    import d\nfinally:\n    pass\nif TYPE_CHECKING:\n    import e\n"
    )
    assert set(loaded_at_once(ast.parse(source))) == {"a", "b", "d"}


@pytest.mark.parametrize("folder", LAYERS)
def test_links_show_the_folders(folder):
    link = ROOT / "src" / "gateproof" / folder
    assert link.is_symlink()
    assert link.readlink() == Path("../..") / folder, "a link must be relative to survive a clone"
    assert link.resolve() == ROOT / folder


def test_kernels_is_a_namespace_package():
    # A regular package named `kernels` at the root shadows the PyPI project that transformers uses.
    assert not (ROOT / "kernels" / "__init__.py").exists()


def test_reader_of_imports_sees_every_form():
    source = (
        "import gateproof.kernels.a\n"
        "from gateproof import kernels\n"
        "from . import b\n"
        "def f():\n"
        "    from torch.nn import Module\n"
    )
    assert [name for _, name in imported(ast.parse(source))] == [
        "gateproof.kernels.a",
        "gateproof.kernels",
        "..b",
        "torch.nn.Module",
    ]
