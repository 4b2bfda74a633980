"""Claims in Markdown, LaTeX and Python: found where they stand, read as text, never run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateproof.proofs_check.claims_file import load
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.refused import RefusedError

BOUND = "for x in R: abs(silu(x) - relu(x)) <= 0.2785"
MARKDOWN = f"""\
# A page

SiLU is near ReLU: $|x\\sigma(x) - \\max(x, 0)| \\le 0.2785$.
<!-- gateproof-claim silu.bound [certified]: {BOUND} -->

- gateproof-claim silu.zero: silu(0) == 0

```gateproof
[[claim]]
id = "tanh.bound"
says = "tanh is bounded."
formal = "for x in R: tanh(x)**2 <= 1"
pin = "proved"
```

The word gateproof-claim inside of a sentence is no claim.
"""
LATEX = f"""\
\\begin{{equation}} |x\\sigma(x)-\\max(x,0)| \\le 0.2785 \\end{{equation}}
% gateproof-claim silu.bound: {BOUND}
%% gateproof-claim silu.zero [proved]: silu(0) == 0
"""
PYTHON = f'''\
"""A module.

gateproof-claim silu.bound: {BOUND}
"""
raise SystemExit("this must never run")

def silu(x):
    # gateproof-claim silu.zero: silu(0) == 0
    return x
'''


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(name, text):
    Path(name).write_text(text)
    return [(c.id, c.readings[0].formal, c.readings[0].pin, c.line) for c in load([Path(name)])]


def test_marks_of_each_kind_of_text_with_their_lines():
    assert found("a.md", MARKDOWN) == [
        ("silu.bound", BOUND, "certified", 4),
        ("silu.zero", "silu(0) == 0", None, 6),
        ("tanh.bound", "for x in R: tanh(x)**2 <= 1", "proved", 10),
    ]
    assert found("a.tex", LATEX) == [
        ("silu.bound", BOUND, None, 2),
        ("silu.zero", "silu(0) == 0", "proved", 3),
    ]
    assert found("a.py", PYTHON) == [("silu.bound", BOUND, None, 3), ("silu.zero", "silu(0) == 0", None, 8)]


def test_a_block_ends_at_its_own_fence():
    text = "````gateproof\n[[claim]]\nid = \"a\"\nsays = '''\n```\n````text\n'''\nformal = \"1 == 1\"\n````\n"
    assert found("a.md", text) == [("a", "1 == 1", None, 3)]


def test_they_are_decided_as_any_claim(here, capsys):
    Path("a.md").write_text(MARKDOWN.replace("0.2785 -->", "0.2784 -->"))
    assert main(["check", "a.md", "--json", "-j", "1"]) == 1
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert [c["readings"][0]["verdict"] for c in claims] == ["refuted", "proved", "proved"]
    assert claims[0]["source"] == {"file": "a.md", "line": 4}
    assert claims[0]["readings"][0]["drift"]


def test_a_project_names_its_texts(here, capsys):
    Path("pyproject.toml").write_text('[tool.gateproof]\nfiles = ["*.tex", "*.py"]\njobs = 1\n')
    Path("a.tex").write_text(LATEX)
    Path("b.py").write_text(PYTHON.replace("silu.", "code."))
    assert main(["check"]) == 0
    assert "4 claims, 4 readings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gateproof-claim a\n", "a.md:1: write a marked claim as"),
        ("x\ngateproof-claim a [proved] 1 == 1\n", "a.md:2: write a marked claim as"),
        ("\n\ngateproof-claim a: 1 +\n", "a.md:3: a: formal: column"),
        ("gateproof-claim a [maybe]: 1 == 1\n", "a.md:1: a: pin"),
        ("gateproof-claim a: 1 == 1\ngateproof-claim a: 2 == 2\n", "a.md:2: 'a': this id is taken (a.md:1)"),
        ("```gateproof\n[[claim]]\n", "a.md:1: this block of claims is not closed"),
        ("\n```gateproof\n[[claim]\n```\n", "a.md:3: is not TOML"),
        ("\n```gateproof\nx = 1\n```\n", "a.md:2: a block of claims holds"),
        ('\n```gateproof\n[[claim]]\nid = "a"\nformal = "1 +"\n```\n', "a.md:5: a: formal: column"),
        ("no claim here\n", "a.md: holds no claim; mark one as"),
    ],
)
def test_a_fault_is_told_with_its_line(text, said):
    with pytest.raises(RefusedError) as error:
        found("a.md", text)
    assert any(said in line for line in error.value.lines), error.value.lines


def test_pins_of_marked_claims_are_a_persons_to_write(capsys):
    Path("a.tex").write_text(LATEX)
    assert main(["check", "a.tex", "--update-pins", "-j", "1"]) == 2
    assert "written by hand" in capsys.readouterr().err
    assert Path("a.tex").read_text() == LATEX


def test_lines_are_those_of_an_editor_and_a_mark_of_encoding_is_no_text(here):
    assert found(
        "a.md", "\ufeffgateproof-claim a: 1 == 1\r\n\x0c\u2028\r\ngateproof-claim b: 1 == 1\r\n"
    ) == [
        ("a", "1 == 1", None, 1),
        ("b", "1 == 1", None, 3),
    ]
    assert found("b.md", '\ufeff```gateproof title="x"\n[[claim]]\nid = "a"\nformal = "1 == 1"\n```\n') == [
        ("a", "1 == 1", None, 3)
    ]


@pytest.mark.parametrize("before", ["x = 1  # ", "\\section{A} % ", "1. ", "- [ ] "])
def test_a_claim_that_would_not_be_read_is_a_fault(here, before):
    with pytest.raises(RefusedError, match=r"a\.md:2: a marked claim has a line to itself"):
        found("a.md", f"gateproof-claim a: 1 == 1\n{before}gateproof-claim b: 1 == 1\n")
    assert len(found("a.md", "gateproof-claim a: 1 == 1\n`gateproof-claim b: 1 == 1` marks one.\n")) == 1


@pytest.mark.parametrize("line", ["a: " + " " * 200_000 + "x", "a" + " " * 200_000 + "x", "x" * 200_000])
def test_a_long_line_is_read_at_once(here, line):
    with pytest.raises(RefusedError):
        found("a.md", f"gateproof-claim {line}\n")


def test_a_block_inside_an_example_is_talk_about_claims(tmp_path):
    path = tmp_path / "a.md"
    inner = '```gateproof\n[[claim]]\nid = "{}"\nformal = "1 + 1 == 2"\n```\n'
    path.write_text(
        f"````markdown\n{inner.format('shown')}````\n\n~~~\n{inner.format('too')}~~~\n\n{inner.format('real')}"
    )
    assert [claim.id for claim in load([path])] == ["real"]
    # A fence that nobody closes goes on to the end, as Markdown has it.
    path.write_text(f"{inner.format('real')}\n````\n{inner.format('shown')}")
    assert [claim.id for claim in load([path])] == ["real"]
