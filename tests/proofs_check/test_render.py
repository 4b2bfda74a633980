"""Renderings: all from the document, nothing in it can break out of them."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as Tree

import pytest
from built_documents import build

from gateproof.proofs_check import clean, schema
from gateproof.proofs_check.records import VERDICTS, ClaimSpec, Controls, Decision, Reading
from gateproof.proofs_check.render import html, junit, katex, markdown, terminal, words
from gateproof.proofs_check.render.tex import readable

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp; </pre></style>"
    "\x1b[31mred\x1b]0;title\x07 \u202egpj.exe\u2066 ``` | [x](javascript:alert(3)) {{ 7*7 }} \x00"
)
PLAIN = terminal.Style(colour=False, signs=True)


@pytest.fixture(scope="module")
def hostile():
    reading = Reading(HOSTILE, f"b(x) {HOSTILE}", "proved", meaning=HOSTILE, define={"b": HOSTILE})
    claim = ClaimSpec("a", (reading,), HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    decision = Decision(
        "refuted",
        method=HOSTILE,
        trust=(HOSTILE,),
        value={"lo": HOSTILE, "hi": HOSTILE + "1"},
        witness={HOSTILE: HOSTILE},
        controls=Controls(2, 1, (HOSTILE,)),
        steps=(HOSTILE,),
        reason=HOSTILE,
    )
    return build([claim], [decision])


@pytest.fixture(scope="module")
def every():
    """One claim a verdict, unpinned, and the interesting pins."""
    decisions = [Decision(v, reason="out of boxes", steps=("s",)) for v in VERDICTS]
    claims = [
        ClaimSpec(f"c.{d.verdict}", (Reading("as stated", "1 == 1"),), says="It says.") for d in decisions
    ]
    pins = [
        ("drifted", "proved", Decision("refuted", witness={"x": "1/2"})),
        ("late", "proved", Decision("inconclusive", reason="time")),
        ("known", "inconclusive", Decision("inconclusive")),
        ("cert", "certified", Decision("certified", certificate={"kind": "range"})),
    ]
    for name, pin, decision in pins:
        readings = (Reading("as stated", "2 == 2", pin),)
        claims.append(ClaimSpec(name, readings, "memglu", correction=f"{name}.corrected"))
        decisions.append(decision)
    return build(claims, decisions)


class Page(HTMLParser):
    """Collects tags, attributes, ids and text; fails on a tag that is not closed in order."""

    VOID = ("meta", "input", "br", "img", "link")

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def no_katex(monkeypatch):
    monkeypatch.setattr(katex, "find", lambda: None)


def test_html_shows_hostile_text_as_text(hostile, no_katex):
    text = html.render(hostile)
    page = Page(text)
    assert not {"img", "link", "iframe", "object", "base"} & set(page.found)
    # One script, our own, which the page's policy names by its hash.
    own = (html.FOLDER / "report.js").read_text()
    assert page.found.count("script") == 1
    assert text.count(f"<script>{own}</script>") == 1
    hashed = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert f"script-src 'sha256-{hashed}'" in text
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    # What a filter compares with is text to the browser; nothing that it follows comes from outside.
    inert = ("data-paper", "value")
    assert not [v for name, v in page.attributes if v and "javascript:" in v and name not in inert]
    assert "<script>alert(1)</script>" in "".join(page.text)
    assert "{{ 7*7 }}" in text
    for char in "\x1b\x07\x00\u202e\u2066":
        assert char not in text


def test_html_reaches_for_nothing(every):
    text = html.render(every)
    outside = re.sub(r"src:url\(data:font/woff2;base64,[A-Za-z0-9+/=]+\)", "", text)
    outside = outside.replace((html.FOLDER / "report.js").read_text(), "")
    assert not re.search(r"https?:|//|url\(|@import|src=", outside)
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    links = [v for name, v in Page(text).attributes if name == "href"]
    ids = {v for name, v in Page(text).attributes if name == "id"}
    assert all(v[1:] in ids or v.startswith("certificates/") for v in links), links


def test_html_shows_every_reading_and_verdict(every):
    text = "".join(Page(html.render(every)).text)
    for claim in every["claims"]:
        assert claim["id"] in text
    for verdict in VERDICTS:
        assert f" {verdict}" in text
    assert "DRIFT from proved" in text
    assert html.render(every).count('<section class="reading ') == len(every["claims"])


def test_html_ids_are_unique(every):
    ids = [v for name, v in Page(html.render(every)).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_markdown_puts_drift_first(every):
    titles = [line for line in markdown.render(every).splitlines() if line.startswith("## ")]
    assert titles[:4] == ["## Drift (1)", "## Failed (6)", "## Open (1)", "## Counts"]


def test_markdown_holds_hostile_text_in_its_cell(hostile):
    text = markdown.render(hostile)
    assert "\x1b" not in text
    assert "\u202e" not in text
    fenced = False
    width = 0
    for line in text.splitlines():
        fenced ^= line.startswith("````")
        bars = re.sub(r"\\\\|\\\|", "", line).count("|") if line.startswith("|") else 0
        assert bars == width or not bars or not width, line
        width = bars
        # Outside code, nothing opens a tag or a link.
        outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line.replace("\\`", ""))
        assert fenced or not re.search(r"(?<!\\)[<\[]", outside), line
    assert not fenced


def test_markdown_has_no_timings(every):
    other = {**every, "run": {**every["run"], "seconds": 99, "started": "2001-01-01T00:00:00"}}
    assert markdown.render(every) == markdown.render(other)


def test_junit_has_a_case_a_reading(every):
    root = Tree.fromstring(junit.render(every))
    found = {
        case.get("classname"): [child.tag + ":" + child.get("type", "") for child in case]
        for case in root.iter("testcase")
    }
    assert found == {
        "c.proved": [],
        "c.certified": [],
        "c.refuted": ["failure:failed"],
        "c.supported": ["failure:failed"],
        "c.unsupported": ["failure:failed"],
        "c.ill-posed": ["failure:failed"],
        "c.inconclusive": ["failure:inconclusive"],
        "c.not-run": ["skipped:"],
        "drifted": ["failure:drift"],
        "late": ["failure:inconclusive"],
        "known": [],
        "cert": [],
    }
    assert [root.get(k) for k in ("tests", "failures", "skipped", "errors")] == ["12", "7", "1", "0"]
    assert [s.get("tests") for s in root] == ["8", "4"]


def test_junit_is_xml_whatever_it_holds(hostile):
    (case,) = Tree.fromstring(junit.render(hostile)).iter("testcase")
    assert "<script>alert(1)</script>" in case.get("name")
    assert "\\x1b[31m" in case.get("name")


@pytest.mark.parametrize("view", [terminal.listing, terminal.details, terminal.summary])
def test_a_terminal_gets_no_control_characters(hostile, view):
    text = view(hostile, PLAIN)
    assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_a_terminal_without_colour_or_signs_gets_ascii(every):
    assert terminal.listing(every, terminal.Style(False, False)).isascii()


def test_colour_only_where_asked_for(every):
    assert "\x1b[" in terminal.listing(every, terminal.Style(True, True))
    assert "\x1b[" not in terminal.listing(every, PLAIN)


def test_the_listing_says_why(every):
    text = terminal.listing(every, PLAIN)
    assert "DRIFT from proved" in text
    assert "witness: x = 1/2" in text
    assert "corrected by drifted.corrected" in text
    assert text.splitlines()[-1] == words.headline(every)


def test_brackets_are_no_markup_in_the_summary():
    made = build([ClaimSpec("a", (Reading("[bold]r", "1 == 1"),), "[red]p[/red]")], [Decision("refuted")])
    text = terminal.summary(made, PLAIN)
    assert "[red]p[/red]" in text
    assert "[bold]r" in text


def test_every_rendering_of_no_claims():
    made = build([], [])
    for view in (html.render, markdown.render, junit.render):
        assert view(made)
    assert terminal.listing(made, PLAIN) == "0 claims, 0 readings\n"


def test_clean():
    assert clean.line("a\tb\nc\x9b") == "a\\x09b c\\x9b"
    assert clean.line("é≤∎") == "é≤∎"
    assert clean.line("abcdef", 5) == "ab..."
    assert clean.block("a\n\tb\x00") == "a\n\tb\\x00"
    assert clean.xml("a\x00\ufffe\tb") == "a\\x00\\ufffe\tb"


NEAR = {"formal": "for x in [0, oo): silu(x) >= 0", "verdict": "proved", "kind": "domain"}


def test_the_nearest_true_statement_is_shown_everywhere():
    claim = ClaimSpec("near", (Reading("as stated", "for x in R: silu(x) >= 0"),))
    made = build([claim], [Decision("refuted", nearest=NEAR)])
    assert schema.faults(made) == []
    shown = "for x in [0, oo): silu(x) >= 0  (where it holds; proved)"
    assert f"true instead: {shown}" in terminal.listing(made, PLAIN)
    assert f"true instead {shown}" in terminal.details(made, PLAIN)
    assert shown.replace("  (", " (") in markdown.render(made)
    assert shown.replace(">", "&gt;") in html.render(made)
    failure = Tree.fromstring(junit.render(made)).find(".//failure")
    assert failure is not None
    assert f"true instead: {shown}" in (failure.text or "")
    assert f"true instead: {shown}" in failure.attrib["message"]


def test_without_a_nearest_statement_nothing_is_said(every):
    for text in (terminal.listing(every, PLAIN), markdown.render(every), html.render(every)):
        assert "true instead" not in text


def test_a_long_fraction_has_its_size_beside_it():
    assert words.witness({"x": "3937/2048"}) == "x = 3937/2048 (1.9224)"
    assert words.witness({"x": "-1/10000000"}) == "x = -1/10000000 (-1e-7)"
    assert words.witness({"x": "1/2", "y": "asinh(1)", "z": "7"}) == "x = 1/2, y = asinh(1), z = 7"


def test_the_legend_stands_before_the_claims(every):
    page = html.render(every)
    assert page.index("What the verdicts mean") < page.index("<article")
    text = markdown.render(every)
    assert text.index("has no meaning as stated") < text.index("## Counts")


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        (r"\frac{a+b}{2}", "(a+b)/2"),
        (r"\sup_x|x\,\sigma(1.702\,x)-\mathrm{GELU}(x)| \le 0.3\,\%", "sup _x|x σ(1.702 x)-GELU(x)| ≤ 0.3 %"),
        (r"r^{\prime}(z)=\tfrac12", "r'(z)=1/2"),
        (r"\sqrt{2q}\ne\sqrt2", "√(2q)≠√2"),
        (r"x^{10}+x^{n+1}", "x^10+x^(n+1)"),
        (r"\mathbb{R}\to(-1,1)", "ℝ→(-1,1)"),
        (r"\unknown{x}", "unknown x"),
        ("{" * 200 + r"\frac", "{" * 200 + r"\frac"),
        (r"\frac", "()/()"),
    ],
)
def test_tex_can_be_read(tex, shown):
    assert readable(tex) == shown


def test_what_an_interrupted_run_did_not_reach_is_one_line():
    claims = [ClaimSpec(f"c{n}", (Reading("as stated", "1 == 1"),)) for n in range(50)]
    stopped = Decision("not-run", reason="interrupted")
    made = build(claims, [Decision("proved"), Decision("not-run", reason="no torch"), *[stopped] * 48])
    listed = terminal.listing(made, PLAIN).splitlines()
    assert "not-run: 48 readings, interrupted" in listed
    assert [line.split()[0] for line in listed if re.match(r"c\d", line)] == ["c0", "c1"]
    summed = terminal.summary(made, PLAIN).splitlines()
    assert summed[-1] == "not-run: 48 readings, interrupted"
    assert sum(line.startswith("c") for line in summed) == 1
