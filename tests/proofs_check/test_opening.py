"""The opening page sorts statements by what became of them, and never calls right what is not."""

from __future__ import annotations

import pytest

from gateproof.proofs_check import document, run_info
from gateproof.proofs_check.records import ClaimSpec, Decision, Reading, Settings
from gateproof.proofs_check.render import html, markdown, opening, terminal
from gateproof.proofs_check.runner import Result, Run


def build(*claims):
    """A document of (id, verdicts, more keys of the claim)."""
    specs, decisions = [], []
    for name, verdicts, more in claims:
        found = [Reading(f"r{k}", f"{k} == {k}", v) for k, v in enumerate(verdicts)]
        specs.append(ClaimSpec(name, tuple(found), "memglu", says=f"Says {name}.", **more))
        decisions += [Decision(v, reason="needs a run" if v == "not-run" else "") for v in verdicts]
    run = Run(tuple(map(Result, decisions)))
    info = run_info.describe(specs, run, Settings(), started=0, seconds=1, jobs=1)
    return document.build(specs, decisions, info)[0]


@pytest.mark.parametrize(
    ("verdicts", "group"),
    [
        (["proved", "certified"], "right"),
        (["proved", "supported"], "supported"),
        (["proved", "refuted"], "partly"),
        (["proved", "ill-posed", "not-run"], "partly"),
        (["refuted", "proved"], "fails"),
        (["unsupported"], "fails"),
        (["ill-posed", "proved"], "fails"),
        (["not-run", "proved", "refuted"], "waits"),
        (["proved", "not-run"], "waits"),
        (["inconclusive", "proved"], "open"),
        (["proved", "inconclusive"], "open"),
    ],
)
def test_groups(verdicts, group):
    made = build(("a", verdicts, {}))
    assert opening.group(made["claims"][0]) == group


def test_what_an_interrupted_run_did_not_reach_is_undecided():
    (claim,) = build(("a", ["not-run"], {}))["claims"]
    assert (opening.group(claim), opening.needs(claim)) == ("waits", ["needs a run"])
    claim["readings"][0]["reason"] = "interrupted"
    assert (opening.group(claim), opening.needs(claim)) == ("open", [])


@pytest.fixture
def made():
    return build(
        ("good", ["proved"], {}),
        ("bad", ["refuted"], {"correction": "bad.corrected"}),
        ("bad.corrected", ["proved"], {}),
        ("mixed", ["proved", "refuted"], {}),
        ("late", ["not-run"], {}),
        ("ours", ["certified"], {"ours": True}),
    )


def test_corrections_and_findings_are_no_statements(made):
    first = opening.opening(made)
    assert first.total("memglu") == 4
    assert [first.count(name) for name in opening.GROUPS] == [1, 0, 1, 1, 1, 0]
    assert [claim["id"] for claim in first.ours] == ["ours"]
    assert first.instead(first.groups["memglu"]["fails"][0]) == "Says bad.corrected."


def test_every_rendering_opens_with_it(made):
    text = markdown.render(made)
    assert "**bad** Says bad.corrected." in text
    assert "**mixed** 1 of 2" in text
    assert "**late** needs a run" in text
    assert text.index("**good** Says good.") < text.index("### good")
    page = html.render(made)
    assert page.index('id="-opening"') < page.index("<article")
    assert '<dt><a href="#bad">bad</a></dt><dd>Says bad.corrected.</dd>' in page
    lines = terminal.summary(made, terminal.Style(colour=False, signs=True)).splitlines()
    assert "memglu: 4 statements, 1 right, 1 in part, 1 fail, 1 wait" in lines


def test_what_a_claim_is_worth_by_what_it_rests_on():
    made = build(
        ("base", ["proved", "not-run"], {}),
        ("middle", ["certified"], {"uses": ("base",)}),
        ("top", ["proved", "refuted"], {"uses": ("middle",)}),
        ("strong", ["certified"], {"uses": ("axiom",)}),
        ("axiom", ["proved"], {}),
        ("cut", ["proved"], {"uses": ("elsewhere",)}),
    )
    found = {c["id"]: [r.get("effective") for r in c["readings"]] for c in made["claims"]}
    assert found == {
        "base": [None, None],
        "middle": ["not-run"],
        # Through others too; what is refuted cannot be worth less.
        "top": ["not-run", None],
        "strong": [None],
        "axiom": [None],
        "cut": [None],
    }
    for text in (markdown.render(made), html.render(made)):
        assert "effectively not-run" in text
    # The page that calls it right says so at once.
    (middle,) = (c for c in made["claims"] if c["id"] == "middle")
    assert opening.said(middle).startswith("Says middle. (effectively not-run")


def test_a_correction_or_a_finding_that_fails_is_not_shown_as_one_that_holds():
    made = build(
        ("bad", ["refuted"], {"correction": "bad.corrected"}),
        ("bad.corrected", ["refuted"], {}),
        ("ours", ["refuted"], {"ours": True}),
    )
    first = opening.opening(made)
    assert (first.total("memglu"), [c["id"] for c in first.ours]) == (1, ["ours"])
    for text in (markdown.render(made), html.render(made)):
        assert "Says bad.corrected. (refuted)" in text.replace("\\", "")
        assert "Says ours. (refuted)" in text.replace("\\", "")


def test_a_claim_without_words_stands_there_formally():
    made = build(("a", ["proved"], {}), ("b", ["inconclusive"], {}), ("c", ["refuted"], {}))
    for claim in made["claims"]:
        claim["says"] = ""
    assert "- **a** 0 == 0\n" in markdown.render(made)
    assert "- **b** 0 == 0\n" in markdown.render(made)
    assert "- **c** no correction\n" in markdown.render(made)


@pytest.mark.parametrize(
    ("pins", "wanted"),
    [
        (["proved", "proved"], "every verdict is the accepted one"),
        (["proved", None], "every reading is as pinned, proved or certified; 1 not pinned"),
        ([None, None], "every reading is proved or certified, none of them pinned"),
    ],
)
def test_the_page_calls_nothing_accepted_that_no_one_accepted(pins, wanted):
    made = build(("a", ["proved", "proved"], {}))
    for reading, pin in zip(made["claims"][0]["readings"], pins, strict=True):
        reading["pin"] = pin
    assert f'<p class="state">{wanted}</p>' in html.render(made)
