"""report/report.html in Chromium: it fetches nothing; all can be reached, filtered, linked to.

The report is the one that `make report` left, or the file that REPORT names.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from browser.opened import ROOT, Opened, launched

pytestmark = pytest.mark.browser
REPORT = Path(os.environ.get("REPORT", ROOT / "report" / "report.html")).resolve()
CLAIM = "tg.gelu.k2"


@pytest.fixture(scope="module")
def chromium():
    with launched() as browser:
        yield browser


class Report(Opened):
    def go(self, rest=""):
        self.page.goto(REPORT.as_uri() + rest)
        return self.page

    def shown(self):
        return self.page.locator("article:visible").evaluate_all("all => all.map(a => a.id)")


@pytest.fixture
def opened(chromium):
    made = []

    def open_(**how):
        made.append(Report(chromium, **how))
        return made[-1]

    yield open_
    for page in made:
        page.context.close()


@pytest.fixture(scope="module")
def claims():
    return json.loads(REPORT.with_suffix(".json").read_text())["claims"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1300])
def test_nothing_is_fetched_or_complained_of_and_nothing_overflows(opened, width, scheme):
    it = opened(width=width, scheme=scheme)
    page = it.go()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.wait_for_timeout(300)
    assert it.said == []
    assert [url for url in it.asked if not url.startswith("data:")] == [REPORT.as_uri()]
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    bright = sum(int(part) for part in paper.removeprefix("rgb(").rstrip(")").split(","))
    assert (bright < 200) == (scheme == "dark")


def test_it_opens_in_under_a_second_and_is_under_six_megabytes(opened):
    assert REPORT.stat().st_size < 6_000_000
    it = opened()
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        it.go()
        times.append(time.perf_counter() - begin)
    # The least of three: others may use the machine.
    assert min(times) < 1


def test_all_claims_and_their_verdicts_are_there_without_script(opened, claims):
    page = opened(script=False).go()
    assert page.locator("article").count() == len(claims)
    assert page.locator("#-filter").is_hidden()
    verdicts = page.locator(f"[id='{CLAIM}'] .badge").all_text_contents()
    found = next(claim for claim in claims if claim["id"] == CLAIM)
    assert [text.split()[-1] for text in verdicts] == [r["verdict"] for r in found["readings"]]


def test_every_formula_is_set_and_in_view_of_a_screen_reader(opened, claims):
    page = opened().go()
    printed = [claim for claim in claims if claim["latex"]]
    assert page.locator(".display .katex-html").count() == len(printed)
    assert page.locator(".display math").count() == len(printed)
    assert page.locator(".katex-error").count() == 0
    # KaTeX keeps the TeX in MathML: each formula is that of its claim.
    kept = page.locator("article").evaluate_all(
        "all => all.map(a => [a.id, (a.querySelector('annotation') || {}).textContent])"
    )
    assert {name: tex for name, tex in kept if tex} == {c["id"]: c["latex"] for c in printed}
    # The fonts are in the page: a formula is set in KaTeX's, not in a substitute.
    page.locator(f"[id='{CLAIM}']").scroll_into_view_if_needed()
    loaded = set()
    for _ in range(50):
        ready = "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
        loaded |= set(page.evaluate(ready))
        if {"KaTeX_Main", "KaTeX_Math"} <= loaded:
            break
        page.wait_for_timeout(100)
    assert {"KaTeX_Main", "KaTeX_Math"} <= loaded


def test_filters_by_verdict_paper_and_text_and_the_address_keeps_them(opened, claims):
    it = opened()
    page = it.go()
    assert len(it.shown()) == len(claims)
    page.locator("input[value=refuted]").check(force=True)
    refuted = [c["id"] for c in claims if any(r["verdict"] == "refuted" for r in c["readings"])]
    assert it.shown() == refuted
    page.locator("select[name=paper]").select_option("memglu")
    both = [name for name in refuted if next(c for c in claims if c["id"] == name)["paper"] == "memglu"]
    assert it.shown() == both
    page.locator("input[name=q]").fill("mem.tg")
    assert "mem.tg" in it.shown()
    assert set(it.shown()) < set(both)
    assert f"{len(it.shown())} of {len(claims)} claims" in page.locator("#-filter output").inner_text()
    before, address = it.shown(), page.url
    again = opened()
    again.page.goto(address)
    assert again.shown() == before
    again.page.locator("button[type=reset]").click()
    again.page.wait_for_timeout(50)
    assert len(again.shown()) == len(claims)
    assert "?" not in again.page.url


def test_a_permalink_shows_its_claim_whatever_the_filter(opened):
    it = opened()
    page = it.go(f"#{CLAIM}")
    box = page.locator(f"[id='{CLAIM}']").bounding_box()
    assert -5 <= box["y"] < 900
    it.go(f"?q=nothing+has+this+text#{CLAIM}")
    assert CLAIM in it.shown()


def test_it_can_be_used_from_the_keyboard(opened):
    page = opened().go()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type(CLAIM)
    assert CLAIM in page.locator("article:visible").first.get_attribute("id")
    chip = page.locator("input[value=refuted]")
    chip.focus()
    page.keyboard.press("Space")
    assert chip.is_checked()


def test_it_prints_every_claim_and_no_controls(opened, claims):
    page = opened().go()
    page.emulate_media(media="print")
    assert page.locator("#-filter").is_hidden()
    assert page.locator("nav.contents").is_hidden()
    assert page.locator("article:visible").count() == len(claims)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_that_keeps_a_reader_out(opened, scheme):
    it = opened(scheme=scheme)
    it.go()
    assert it.heavy_faults() == []
