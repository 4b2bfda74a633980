"""The checker stands alone, and stays small enough to be read in one sitting."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from naive_certificates import make

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "proofs_check" / "checker"
FORMULAS = [
    "__init__",
    "algebra",
    "boxes",
    "check",
    "evaluate",
    "interval",
    "jet",
    "kinds",
    "parameters",
    "tail",
]
FLOATING = [
    "bounded",
    "boxed",
    "boxed_values",
    "floating",
    "points",
    "quotients",
    "rounded",
    "roundoff",
    "sums",
]
FILES = [*FORMULAS, *FLOATING]
#: Lines and lines of code of all files of a part together; they may shrink.
SIZES = [(FORMULAS, 1421, 1019), (FLOATING, 1333, 1013)]
# Loaded only for a certificate that names a special function.
SPECIAL = sorted(f"special/{path.stem}" for path in (FOLDER / "special").glob("*.py"))
OURS = "gateproof.proofs_check.checker"

# Checks a certificate in a fresh interpreter and prints what that loaded.
PROBE = """
import json, sys
document = json.loads(sys.stdin.read())
from gateproof.proofs_check.checker import verify
assert verify(document).accepted
print(json.dumps(sorted(sys.modules)))
"""


def tree(name):
    return ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [*FILES, *SPECIAL])
def test_imports_are_of_the_standard_library_gmpy2_and_the_checker(name):
    imported = [
        module
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in ([node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    ]
    for module in imported:
        top = module.partition(".")[0]
        assert module.startswith(OURS) or top == "gmpy2" or top in sys.stdlib_module_names


@pytest.mark.parametrize("name", [*FILES, *SPECIAL])
def test_nothing_is_executed_from_text(name):
    names = {node.id for node in ast.walk(tree(name)) if isinstance(node, ast.Name)}
    assert names & {"eval", "exec", "compile", "open", "__import__", "globals"} == set()


def test_a_check_loads_nothing_else():
    document = make("silu(x)", lower=-1, pieces=16, rule="natural")
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE],
        input=json.dumps(document),
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    assert {m for m in loaded if m.startswith("gateproof")} == {
        "gateproof",
        "gateproof.proofs_check",
        OURS,
        *(f"{OURS}.{name}" for name in FILES[1:]),
    }
    assert {m.partition(".")[0] for m in loaded} & {"flint", "sympy", "mpmath", "numpy"} == set()


NOT_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def code_lines(text):
    """The lines that are not blank, not comments and not docstrings."""
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            found |= {*range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            found -= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    return len(found)


def test_what_counts_as_code():
    text = '''"""Of
two lines."""

x = (  # one
    1,
)
# not code
def f():
    """Not code."""
    return x
'''
    assert code_lines(text) == 5


@pytest.mark.parametrize(("files", "lines", "code"), SIZES)
def test_size(files, lines, code):
    texts = [(FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in files]
    assert max(len(text.splitlines()) for text in texts) < 240
    assert sum(len(text.splitlines()) for text in texts) <= lines
    assert sum(map(code_lines, texts)) <= code


def test_size_of_the_special_functions():
    texts = [(FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in SPECIAL]
    assert max(len(text.splitlines()) for text in texts) < 160
    assert sum(len(text.splitlines()) for text in texts) <= 800


def test_no_file_is_forgotten():
    assert {*FILES} == {path.stem for path in FOLDER.glob("*.py")}
