"""Every block of every page: a command has these options, a file is read by its reader, Python compiles.

Pages whose output is shown are also run, by the tests beside what they describe, and so are the blocks for
other programs (``test_ci_hooks.py``, ``tests/kernels/runs/test_recipes_run.py``). Here nothing is run, so
that commands that take minutes are held as well.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from gateproof.kernels.runs import catalogue
from gateproof.kernels.runs.refused import RunRefusedError
from gateproof.proofs_check import project
from gateproof.proofs_check.claims_file import load
from gateproof.proofs_check.cli import entry
from gateproof.proofs_check.refused import RefusedError

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "figures/README.md",
    *sorted(ROOT.glob("docs/*.md")),
]
FENCE = re.compile(r"^( *)```+([^\n]*)\n(.*?)^\1```+$", re.MULTILINE | re.DOTALL)
#: Programs of others that pages may name.
OTHERS = {"coqc", "npm", "dask", "pip", "pytest", "git", "python", "make"}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])


def fenced(page):
    return [(page, kind.strip(), text) for _, kind, text in FENCE.findall(page.read_text())]


def lines_of_commands(page):
    """Lines that a reader types: behind four spaces or in a sh block, with their continuations."""
    text = page.read_text()
    bare = FENCE.sub(
        lambda m: "" if m[2].strip() != "sh" else re.sub(r"^", "    ", m[3], flags=re.MULTILINE), text
    )
    bare = re.sub(r"\\\n\s*", " ", bare)
    found = re.findall(
        r"^ {4,}(?:\$ )?((?:[A-Z_]+=\S+ )*(?:gateproof|" + "|".join(sorted(OTHERS)) + r") .*)$",
        bare,
        re.MULTILINE,
    )
    return [(page, line) for line in found]


BLOCKS = [block for page in PAGES for block in fenced(page)]
COMMANDS = [line for page in PAGES for line in lines_of_commands(page)]


def named(value):
    return value.name if isinstance(value, Path) else value.split("\n")[0][:50]


def check_command(line):
    """A line of a shell: each of its commands exists here and takes these options."""
    lexer = shlex.shlex(re.sub(r"\s{2,}[^'\"]*$", "", line), posix=True, punctuation_chars="|&>")
    lexer.whitespace_split = True
    words: list[str] = []
    for token in [*lexer, "|"]:
        if set(token) <= set("|&>"):
            check_words(words)
            words = []
        elif words or not re.fullmatch(r"[A-Z_]+=\S*", token):
            words.append(token)


def check_words(words):
    match words:
        case ["gateproof", *rest]:
            entry.parse(rest)
        case ["make", *targets]:
            assert {t for t in targets if "=" not in t} <= TARGETS
        case ["pip", "install", *rest]:
            for extra in re.findall(r"\[([\w,]+)\]", " ".join(rest)):
                assert set(extra.split(",")) <= EXTRAS
        case ["python", "-m", module, *_]:
            assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=named)
def test_a_command_exists_and_takes_these_options(page, line):
    check_command(line)


def check_yaml(text):
    """Actions and hooks that we offer are used with the inputs and names that they have."""
    for document in yaml.safe_load_all(text):
        if isinstance(document, dict) and "apiVersion" in document:
            check_cluster(document)
            continue
        inputs = set(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])
        hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
        for step in document if isinstance(document, list) else []:
            if "/gateproof@" in step.get("uses", ""):
                assert set(step.get("with", {})) <= inputs
            if "run" in step:
                check_command(step["run"].split(" >> ")[0])
        for repository in document.get("repos", []) if isinstance(document, dict) else []:
            assert {hook["id"] for hook in repository["hooks"]} <= hooks


def check_cluster(document):
    """What Kubernetes refuses first: labels that a deployment does not select, a volume that is not there."""
    assert document["kind"] in ("Service", "Deployment", "Job", "PersistentVolumeClaim")
    assert document["metadata"]["name"]
    if document["kind"] != "Deployment":
        return
    spec = document["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()
    pod = spec["template"]["spec"]
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    for container in pod["containers"]:
        assert {m["name"] for m in container.get("volumeMounts", [])} <= volumes
        assert all(isinstance(word, str) for word in container["command"])
        assert all(isinstance(v["value"], str) for v in container.get("env", []))


def check_toml(text, folder):
    table = tomllib.loads(text)
    if "claim" in table:
        path = folder / "a.claims.toml"
        # What a claim rests on may stand on another page.
        path.write_text(re.sub(r"^(uses|correction) = .*\n", "", text, flags=re.MULTILINE))
        assert load([path])
    elif "tool" in table:
        (folder / "pyproject.toml").write_text(text)
        assert project.find(folder).values
    elif "experiment" in table:
        path = folder / "a.toml"
        path.write_text(text)
        found = catalogue.read(path, table["experiment"], "a")
        # An excerpt leaves settings out; those that it has are settings.
        with pytest.raises(RunRefusedError) as seen:
            catalogue.read_settings(catalogue.load(table["experiment"]), found)
        assert all("missing; give" in fault for fault in seen.value.lines)
    else:
        raise AssertionError("no reader of ours takes this file")


@pytest.mark.parametrize(("page", "kind", "text"), BLOCKS, ids=named)
def test_a_block_is_what_it_is_called(page, kind, text, tmp_path):
    if kind == "toml":
        check_toml(text, tmp_path)
    elif kind == "yaml":
        check_yaml(text)
    elif kind == "python":
        compile(
            text
            if ">>>" not in text
            else "\n".join(re.findall(r"^(?:>>>|\.\.\.) ?(.*)", text, re.MULTILINE)),
            page.name,
            "exec",
        )
    else:
        # Claims are decided by the language page's test, shell lines are held above.
        assert kind == "sh" or kind.startswith("claim ")


@pytest.mark.parametrize(
    "wrong",
    [
        "gateproof report --no-such-option",
        "gateproof certfy x",
        "gateproof check --timeout nosuch",
        "make nosuch",
        "pip install 'gateproof[nosuch]'",
        "python -m gateproof.nosuch",
    ],
)
def test_what_a_page_gets_wrong_is_seen(wrong):
    with pytest.raises((AssertionError, RefusedError, SystemExit)):
        check_command(wrong)


def test_there_are_blocks_and_commands():
    assert len(BLOCKS) > 150
    assert len(COMMANDS) > 60


def test_every_page_stands_in_the_site_and_in_its_index():
    pages = {path.name for path in ROOT.glob("docs/*.md")}
    listed = re.findall(r"^\s+- ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert set(listed) == pages
    linked = re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs/index.md").read_text())
    assert set(linked) == pages - {"index.md"}


def test_files_that_pages_name_are_there():
    named = {
        (page.name, path)
        for page in PAGES
        for path in re.findall(
            r"`((?:tests|figures|theory|numerics|kernels|proofs_check)/[\w./-]+)`", page.read_text()
        )
    }
    assert len(named) > 20
    assert [
        (page, path) for page, path in sorted(named) if "NAME" not in path and not (ROOT / path).exists()
    ] == []
