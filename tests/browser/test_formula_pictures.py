"""Formulas of the report as Chromium shows them, beside pictures that a person compared with the papers.

``formulas/ID.png`` is the formula of claim ID, black on white. Versions of Chromium and FreeType
shade edges differently, so ink is compared, each spot with a pixel's leeway. After a formula's text
changed on purpose, ``PICTURES=write`` renews what differs: look at each before it is committed.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from browser.opened import ROOT, launched
from PIL import Image

from gateproof.proofs_check.render.katex import find

pytestmark = pytest.mark.browser
REPORT = Path(os.environ.get("REPORT", ROOT / "report" / "report.html")).resolve()
PICTURES = Path(__file__).parent / "formulas"
#: Each construct that the claims' TeX has once: roots, limits, accents, stacked relations, double indices...
IDS = [
    "mem.c0.formula",
    "mem.c0.sampling",
    "mem.loop.power",
    "mem.state",
    "mem.branches",
    "mem.derivative",
    "mem.extrema",
    "mem.series",
    "mem.smooth",
    "mem.occupancy.corrected",
    "mem.order.energy",
    "tg.attention.corrected",
    "tg.cost.shapes",
    "tg.gelu.k2",
    "tg.calibration",
    "tg.gradients",
    "tg.kappa",
    "tg.taylor.corrected",
    "tg.layer",
    "tg.depth.critical",
    "tg.minimal.k2",
    "tg.minimal.crossing",
    "tg.softmax.corrected",
    "tg.lse",
    "tg.softplus.corrected",
    "tg.steps",
    "two.form",
    "two.tg.corrected",
    "two.derivative.corrected",
    "two.surrogate.delta",
    "two.potential",
    "two.criterion",
    "two.rho",
    "two.penalty.corrected",
]
#: Pixels in a square of SIDE pixels that may be ink in one picture and have none near in the other. The same
#: fonts in another build move next to none; a changed sign or exponent moves 23 and more.
APART, SIDE = 4, 24
BARE = "body{margin:0;background:#fff;color:#000} #one{display:inline-block;padding:6px;font-size:40px}"


@pytest.fixture(scope="module")
def chromium():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def katex():
    return find() or pytest.skip("KaTeX is not installed: npm was not reached when .venv was made")


@pytest.fixture(scope="module")
def page(chromium, katex):
    page = chromium.new_page(viewport={"width": 2600, "height": 500})
    page.set_content(f"<style>{katex.style}{BARE}</style><div id=one></div>")
    return page


@pytest.fixture(scope="module")
def set_in_report(chromium):
    """The formulas' HTML by claim, cut out of the report's own file."""
    page = chromium.new_page()
    page.goto(REPORT.as_uri())
    return dict(
        page.locator("article").evaluate_all(
            "all => all.map(a => [a.id, (a.querySelector('.display .katex-display') || {}).outerHTML])"
        )
    )


def ink(page, html):
    page.locator("#one").evaluate("(box, html) => { box.innerHTML = html }", html)
    page.evaluate("document.fonts.ready")
    return np.asarray(Image.open(io.BytesIO(page.locator("#one").screenshot())).convert("L"))


def widened(dark):
    out = np.zeros_like(dark)
    padded = np.pad(dark, 1)
    for dy in range(3):
        for dx in range(3):
            out |= padded[dy : dy + dark.shape[0], dx : dx + dark.shape[1]]
    return out


def apart(one, other):
    """The most pixels in a square of SIDE that are ink in one picture and far from ink in the other."""
    if any(abs(a - b) > 2 for a, b in zip(one.shape, other.shape, strict=True)):
        return SIDE**2
    height, width = (max(a, b) for a, b in zip(one.shape, other.shape, strict=True))
    a, b = (np.pad(im < 128, [(0, height - im.shape[0]), (0, width - im.shape[1])]) for im in (one, other))
    missed = (a & ~widened(b)) | (b & ~widened(a))
    return int(max(np.lib.stride_tricks.sliding_window_view(missed, (SIDE, SIDE)).sum(axis=(2, 3)).ravel()))


@pytest.mark.parametrize("name", IDS)
def test_it_looks_as_it_did_when_a_person_read_it(page, set_in_report, name):
    now = ink(page, set_in_report[name])
    path = PICTURES / f"{name}.png"
    if os.environ.get("PICTURES") == "write" and not (
        path.exists() and apart(now, np.asarray(Image.open(path))) <= APART
    ):
        Image.fromarray(now).save(path, optimize=True)
    assert apart(now, np.asarray(Image.open(path).convert("L"))) <= APART


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("tg.gelu.k2", "x\\,\\sigma", "x+\\sigma"),
        ("mem.series", "z-\\tfrac", "z+\\tfrac"),
        ("tg.softmax.corrected", ">", "\\ge "),
        ("two.rho", "\\le", "<"),
        ("mem.derivative", "^{2}", "^{3}"),
        ("tg.lse", "-|", "|"),
        ("tg.kappa", "\\prime\\prime\\prime", "\\prime\\prime"),
    ],
)
def test_a_changed_formula_looks_different(page, katex, name, right, wrong):
    claims = json.loads(REPORT.with_suffix(".json").read_text())["claims"]
    tex = next(claim["latex"] for claim in claims if claim["id"] == name)
    assert right in tex
    kept = np.asarray(Image.open(PICTURES / f"{name}.png").convert("L"))
    assert apart(ink(page, katex.typeset(tex, name)), kept) <= APART
    assert apart(ink(page, katex.typeset(tex.replace(right, wrong, 1), name)), kept) > APART
