"""`gateproof explore` in Chromium: a gate is fitted, moved, proved, copied; bad input stays in place."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from browser.opened import Opened, launched
from scipy import optimize, special

pytestmark = pytest.mark.browser
SECONDS = 60_000


@pytest.fixture(scope="module")
def address():
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gateproof", "explore", "gelu"], stdout=subprocess.PIPE, text=True
    )
    yield re.search(r"http://\S+/", process.stdout.readline())[0]
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0


@pytest.fixture(scope="module")
def chromium():
    with launched() as browser:
        yield browser


@pytest.fixture
def page(chromium, address):
    it = Opened(chromium)
    it.page.goto(address)
    it.page.locator("#r-bound", has_text="on all of R").wait_for(timeout=SECONDS)
    yield it.page
    assert it.said == []
    assert {url.split("#")[0].rpartition("/")[0] + "/" for url in it.asked if "data:" not in url} == {address}
    it.context.close()


def largest(tau, theta):
    """sup |x sigmoid(tau (x - theta)) - GELU(x)| by SciPy's functions on a grid, to 1e-8."""
    x = np.linspace(-12, 12, 480_001)
    return np.abs(x * (special.expit(tau * (x - theta)) - special.ndtr(x))).max()


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def test_it_opens_with_the_best_gate_of_gelu_and_all_that_is_known(page):
    # The best sharpness by a search of its own: both peaks of x (sigmoid(t x) - Phi(x)) level out there.
    lo, hi = numbers(page.locator("#r-bound").inner_text())[:2]
    best = optimize.minimize_scalar(lambda t: largest(t, 0), bounds=(1.5, 2), options={"xatol": 1e-10}).fun
    assert lo <= best + 1e-8
    assert best <= hi + 1e-8
    page.locator("#r-field td").first.wait_for(timeout=SECONDS)
    assert page.locator("#c-gate svg, #c-gates svg, #c-error svg").count() == 3
    # kappa of GELU at +-sqrt 2: |f'''| = |x^3 - 4x| phi(x) = 2 sqrt(2) phi(sqrt 2).
    assert "0.41510" in page.locator("#r-kappa").inner_text()


def test_moving_a_threshold_moves_the_bound(page):
    page.get_by_label("theta 1, exactly").fill("0.5")
    page.get_by_label("theta 1, exactly").press("Enter")
    page.wait_for_url("**theta=0.5**", timeout=SECONDS)
    page.locator("#r-bound", has_text="on all of R").wait_for(timeout=SECONDS)
    lo, hi = numbers(page.locator("#r-bound").inner_text())[:2]
    moved = largest(float(page.get_by_label("tau, exactly").input_value()), 0.5)
    assert lo - 1e-8 <= moved <= hi + 1e-8
    # The bound is drawn where the curve peaks.
    assert page.locator("#c-error line.bound").count() == 2


def test_a_slider_moves_by_keys(page):
    slider = page.get_by_role("slider", name="tau")
    before = page.get_by_label("tau, exactly").input_value()
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert float(page.get_by_label("tau, exactly").input_value()) > float(before)
    page.locator("#r-bound", has_text="on all of R").wait_for(timeout=SECONDS)


def test_another_activation_and_more_branches(page):
    page.locator("#target").fill("x*sigmoid(x)")
    page.locator("#target").press("Enter")
    page.locator("#r-best", has_text="proved").wait_for(timeout=SECONDS)
    assert numbers(page.locator("#r-best").inner_text())[0] == 0
    page.locator("#target").fill("gelu")
    page.locator("#k").fill("3")
    page.locator("#k").press("Enter")
    page.locator("#r-bound", has_text="0.00384").wait_for(timeout=SECONDS)
    assert page.get_by_role("slider").count() == 3


def test_bad_input_is_answered_in_place_and_what_was_there_stays(page):
    before = page.locator("#r-bound").inner_text()
    page.locator("#target").fill("x*tanh(")
    page.locator("#target").press("Enter")
    page.locator("#trouble", has_text="column 8").wait_for(timeout=SECONDS)
    assert page.locator("#target").get_attribute("aria-invalid") == "true"
    assert page.locator("#r-bound").inner_text() == before
    page.locator("#target").fill("<img src=x onerror=alert(1)>")
    page.locator("#target").press("Enter")
    page.locator("#trouble", has_text="<img").wait_for(timeout=SECONDS)
    assert page.locator("#trouble img").count() == 0


def test_what_is_shown_is_about_the_target_that_was_fitted(page):
    """A target that is only typed, or was refused, is no part of any bound."""
    assert page.locator("#r-of").inner_text() == "about gelu, K = 2"
    page.locator("#target").fill("log(x)")
    page.locator("#target").press("Enter")
    page.locator("#trouble", has_text="gateproof fit takes an interval").wait_for(timeout=SECONDS)
    page.get_by_label("theta 1, exactly").fill("0.5")
    page.get_by_label("theta 1, exactly").press("Enter")
    page.wait_for_url("**target=gelu**theta=0.5**", timeout=SECONDS)
    page.locator("#r-bound", has_text="on all of R").wait_for(timeout=SECONDS)
    lo, hi = numbers(page.locator("#r-bound").inner_text())[:2]
    moved = largest(float(page.get_by_label("tau, exactly").input_value()), 0.5)
    assert lo - 1e-8 <= moved <= hi + 1e-8
    assert page.locator("#r-of").inner_text() == "about gelu, K = 2"


@pytest.mark.parametrize(
    ("target", "k", "sliders"), [("3", "2", None), ("2*x + 1", "1", 0), ("abs(x)", "2", None)]
)
def test_degenerate_targets_are_exact(page, target, k, sliders):
    page.locator("#target").fill(target)
    page.locator("#k").fill(k)
    page.locator("#k").press("Enter")
    page.locator("#r-of", has_text=f"about {target}, K = ").wait_for(timeout=SECONDS)
    assert ("K = 1 suffices" in page.locator("#r-best").inner_text()) == (target == "3")
    page.locator("#r-bound", has_text="0 on all of R, proved").wait_for(timeout=SECONDS)
    page.locator("#r-field td").first.wait_for(timeout=SECONDS)
    assert page.locator("#trouble").inner_text() == ""
    if sliders is not None:
        assert page.get_by_role("slider").count() == sliders


@pytest.mark.parametrize(
    ("name", "text"), [("tau, exactly", "abc"), ("tau, exactly", "-1"), ("theta 1, exactly", "1e99")]
)
def test_a_bad_number_is_answered_in_place(page, name, text):
    page.get_by_label(name).fill(text)
    page.get_by_label(name).press("Enter")
    page.locator("#trouble", has_text=re.compile("sharpness is above 0|is no number|too large")).wait_for(
        timeout=SECONDS
    )


def test_an_infinite_sharpness_is_a_hard_gate(page):
    """sup |x 1(x > 0) - x Phi(x)|: the largest of |x| Phi(-|x|), by SciPy's own search."""
    page.get_by_label("tau, exactly").fill("oo")
    page.get_by_label("tau, exactly").press("Enter")
    page.wait_for_url("**tau=oo**", timeout=SECONDS)
    page.locator("#r-bound", has_text="on all of R").wait_for(timeout=SECONDS)
    hard = -optimize.minimize_scalar(
        lambda x: -x * special.ndtr(-x), bounds=(0, 3), options={"xatol": 1e-10}
    ).fun
    lo, hi = numbers(page.locator("#r-bound").inner_text())[:2]
    assert lo - 1e-9 <= hard <= hi + 1e-9


@pytest.mark.parametrize(
    ("form", "holds"), [("torch", "torch"), ("triton", "@triton.jit"), ("c", "#include")]
)
def test_the_gate_is_copied_out(page, form, holds):
    page.locator(f"[data-form={form}]").click()
    page.locator("#out", has_text=holds).wait_for(timeout=SECONDS)
    assert page.locator("#copy").is_visible()


def test_a_link_shows_the_same_gate(page, chromium):
    page.get_by_label("theta 1, exactly").fill("0.25")
    page.get_by_label("theta 1, exactly").press("Enter")
    page.locator("#r-bound", has_text="on all of R").wait_for(timeout=SECONDS)
    shown = page.locator("#r-bound").inner_text()
    other = Opened(chromium)
    other.page.goto(page.url)
    other.page.locator("#r-bound", has_text=shown).wait_for(timeout=SECONDS)
    assert other.page.get_by_label("theta 1, exactly").input_value() == "0.25"
    other.context.close()


def test_it_fits_a_narrow_screen_and_axe_finds_nothing_heavy(chromium, address):
    it = Opened(chromium, width=320, scheme="dark")
    it.page.goto(address)
    it.page.locator("#r-field td").first.wait_for(timeout=SECONDS)
    assert it.page.evaluate("document.documentElement.scrollWidth") <= 320
    # Words in a picture are as large as they are on a wide screen.
    shown, drawn = it.page.evaluate(
        "[document.querySelector('#c-error svg').clientWidth,"
        " document.querySelector('#c-error svg').viewBox.baseVal.width]"
    )
    assert shown == pytest.approx(drawn, abs=2)
    assert it.heavy_faults() == []
    it.context.close()
