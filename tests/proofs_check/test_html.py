"""Formulas set by KaTeX, pictures beside readings, SARIF and the LaTeX table."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys

import pytest
from built_documents import build

from gateproof.proofs_check.records import ClaimSpec, Decision, Reading
from gateproof.proofs_check.refused import RefusedError
from gateproof.proofs_check.render import curve, html, katex, latex, number_line, sarif
from gateproof.theory.formula import define

SETTING, _ = katex.usable()
needs_katex = pytest.mark.skipif(SETTING is None, reason="KaTeX or quickjs is not installed")


def one(tex=r"\sigma(x)", pin="proved", verdict="proved", **more):
    claim = ClaimSpec("a.b", (Reading("as stated", "1 == 1", pin),), "paper", latex=tex, **more)
    return build([claim], [Decision(verdict)])


@needs_katex
def test_a_formula_is_set_with_its_mathml_and_the_tex_beside_it():
    text = html.render(one(r"\frac{a}{b} \le \sqrt{2}"))
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac><mo>≤</mo><msqrt><mn>2</mn></msqrt>" in text
    assert r"<pre>\frac{a}{b} \le \sqrt{2}</pre>" in text


@needs_katex
@pytest.mark.parametrize(
    ("tex", "why"),
    [
        (r"\nosuchmacro{x}", "nosuchmacro"),
        (r"\frac{a}{", "expected '}'"),
        (r"\def\a{\a\a}\a", "expan"),
        ("x" * 30_000, "longer than"),
        ("{" * 5_000 + "}" * 5_000, "write it in what KaTeX knows"),
    ],
)
def test_tex_that_is_unknown_or_too_much_fails_the_build_and_names_the_claim(tex, why):
    with pytest.raises(RefusedError) as error:
        html.render(one(tex))
    (line,) = error.value.lines
    assert line.startswith("a.b: latex: ")
    assert why in line


@needs_katex
@pytest.mark.parametrize(
    "tex", [r"\href{javascript:alert(1)}{x}", r"\includegraphics{x.png}", r"\htmlStyle{color:red}{x}"]
)
def test_tex_that_reaches_out_makes_no_link_and_no_image(tex):
    try:
        text = html.render(one(tex))
    except RefusedError:
        return
    assert 'href="javascript' not in text
    assert "<img" not in text
    assert 'style="color:red' not in text


@needs_katex
def test_text_in_a_formula_stays_text():
    text = html.render(one(r"\text{<script>alert(1)</script><img src=x onerror=alert(2)>}"))
    assert "<script>alert(1)" not in text
    assert "<img" not in text
    assert "&lt;script&gt;alert(1)" in text


@needs_katex
def test_every_font_is_inside_and_whole():
    text = html.render(one())
    inside = {base64.b64decode(data) for data in re.findall(r"font/woff2;base64,([A-Za-z0-9+/=]+)\)", text)}
    files = {path.read_bytes() for path in SETTING.fonts.glob("*.woff2")}
    assert inside == files
    assert len(files) == 20


def test_without_katex_tex_is_printed_with_a_notice(monkeypatch):
    monkeypatch.setattr(katex, "find", lambda: None)
    text = html.render(one(r"\sigma(x)"))
    assert '<pre class="raw">\\sigma(x)</pre>' in text
    assert "KaTeX is not installed" in text
    assert "font-face" not in text


def test_a_folder_that_holds_no_katex_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv(katex.VARIABLE, str(tmp_path))
    with pytest.raises(RefusedError, match="holds no katex"):
        html.render(one())


@needs_katex
def test_bad_tex_ends_a_report_before_anything_is_decided_or_written(tmp_path):
    (tmp_path / "c.claims.toml").write_text('[[claim]]\nid = "a"\nlatex = \'\\nope\'\nformal = "1 == 1"\n')
    command = [sys.executable, "-P", "-m", "gateproof", "report", "c.claims.toml", "--out", "out"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "a: latex: Undefined control sequence: \\nope" in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_pages_differ_only_by_the_run():
    first, other = one(), one()
    other["run"] = {**first["run"], "started": "2031-01-01T00:00:00+00:00", "seconds": 77.7}
    a, b = html.render(first), html.render(other)
    assert a != b
    assert a.replace(first["run"]["started"], "").replace("1 s", "") == b.replace(
        other["run"]["started"], ""
    ).replace("77.7 s", "")


def reading(formal, lo, hi, verdict, witness=None):
    return {"formal": formal, "value": {"lo": lo, "hi": hi}, "verdict": verdict, "witness": witness}


def places(text, kind, name):
    return [float(x) for x in re.findall(rf'<{kind} class="{name}" x1?="([-\d.]+)"', text)]


def test_a_number_line_has_the_value_and_the_bound_at_their_places():
    text = number_line.draw(reading("sup(abs(sin(x)), x in R) <= 3", "1", "1", "certified"), {})
    (value,), (bound,), (axis,) = (
        places(text, "rect", "value"),
        places(text, "line", "bound"),
        places(text, "line", "axis"),
    )
    # Zero is in view for a magnitude, with an eighth of [0, 3] on either side: 1 and 3 are where they are.
    assert axis == 14
    scale = (320 - 28) / 3.75
    assert value + 2.5 == pytest.approx(14 + scale * 1.375, abs=0.06)
    assert bound == pytest.approx(14 + scale * 3.375, abs=0.06)
    assert "at most 3" in text


@pytest.mark.parametrize(
    ("formal", "lo", "hi", "verdict"),
    [
        ("sup(sin(x), x in R) <= 1/2", "1", "1", "certified"),  # the value is above: not what is compared
        ("sup(sin(x), x in R) <= 2", "1", "1", "refuted"),
        ("sup(sin(x), x in R) <= sup(cos(x), x in R)", "1", "1", "certified"),
        ("sup(sin(x), x in R) <= 2 and 1 < 2", "1", "1", "certified"),
        ("for x in R: sin(x) <= 2", "oo", "oo", "proved"),
    ],
)
def test_no_number_line_where_it_would_not_show_the_verdict(formal, lo, hi, verdict):
    assert number_line.draw(reading(formal, lo, hi, verdict), {}) == ""


@pytest.mark.parametrize("formal", ["3 >= sup(sin(x), x in R)", "-1 <= sup(sin(x), x in R) <= 3"])
def test_a_number_line_reads_relations_either_way_round(formal):
    text = number_line.draw(reading(formal, "1", "1", "certified"), {})
    assert "at most 3" in text
    assert ("at least -1" in text) == formal.startswith("-1")


def test_labels_tell_near_numbers_apart():
    text = number_line.draw(reading("sup(sin(x), x in R) <= 1.000001", "1", "1", "certified"), {})
    assert "at most 1.000001" in text


def test_an_enclosure_around_the_printed_number_is_one_place():
    """[1/2 - 1e-15, 1/2 + 1e-15] is no wide bar, but a bound just outside of it is drawn apart."""
    lo, hi = "0.499999999999999", "0.500000000000001"
    text = number_line.draw(reading("sup(f(x), x in R) == 1/2", lo, hi, "proved"), {"f": define("f", "x")})
    assert re.findall(r'<rect class="value"[^>]* width="([\d.]+)"', text) == ["5"]
    text = number_line.draw(
        reading("sup(f(x), x in R) <= 0.500000000000003", lo, hi, "proved"), {"f": define("f", "x")}
    )
    assert float(re.search(r'<rect class="value"[^>]* width="([\d.]+)"', text)[1]) > 50


def test_a_curve_passes_through_the_worst_place():
    given = reading("sup(abs(f(x)), x in [0, 4]) <= 1/2", "1", "1", "refuted", {"x": "1"})
    text = curve.draw(given, {"f": define("f", "x*exp(1 - x)")})
    points = [tuple(map(float, p.split(","))) for p in re.search(r'points="([^"]*)"', text)[1].split()]
    # f has its maximum 1 at 1, the topmost place of the curve: a quarter of the way, at height 1/1.08.
    top = min(points, key=lambda p: p[1])
    assert top[0] == pytest.approx(6 + (320 - 12) / 4, abs=2)
    assert top[1] == pytest.approx(82 * (0.5 - 1 / 1.08 / 2), abs=0.1)
    levels = [float(y) for y in re.findall(r'class="bound" x1="6" y1="([\d.]+)"', text)]
    assert levels == pytest.approx([82 * (0.5 - s / 1.08 / 4) for s in (1, -1)], abs=0.06)


def test_a_curve_ends_where_its_domain_does_and_shows_a_peak_between_the_grid_points():
    given = {"verdict": "refuted", "witness": {"x": "1.234567"}}
    given["formal"] = "sup(abs(exp(-10**8*(x - 1.234567)**2)), x in [0, sqrt(2)]) <= 1/2"
    text = curve.draw(given, {})
    assert "on [0, 1.41421]" in text
    # The peak 1 is the topmost place at height 1/1.08 of the half; the grid alone sees 0.
    points = re.search(r'points="([^"]*)"', text)[1].split()
    assert min(float(p.split(",")[1]) for p in points) == pytest.approx(82 * (0.5 - 1 / 1.08 / 2), abs=0.1)
    # Nothing lies within a bound below 0.
    assert curve.draw({**given, "formal": "sup(abs(sin(x)), x in [0, 1]) <= -1"}, {}) == ""


@pytest.mark.parametrize(
    "formal",
    [
        "sup(f(x), x in R) <= 1/2",
        "sup(abs(1/x), x in [-1, 1]) <= 1/2",
        "inf(sup(abs(sin(t*x)), x in R), t > 0) <= 2",
        "sup(abs(nosuch(x)), x in R) <= 2",
    ],
)
def test_no_curve_where_there_is_no_bound_on_one_finite_curve(formal):
    given = reading(formal, "1", "1", "refuted")
    assert curve.draw(given, {"f": define("f", "x*exp(1 - x)")}) == ""


def test_sarif_has_what_is_not_as_pinned_at_its_line():
    claims = [
        ClaimSpec("good", (Reading("r", "1 == 1", "proved"),), file="my claims.toml", line=3),
        ClaimSpec("bad", (Reading("r", "1 == 2", "proved"),), file="my claims.toml", line=7),
        ClaimSpec("new", (Reading("r", "1 == 2"),), file="my claims.toml", line=9),
        ClaimSpec("late", (Reading("r", "1 == 2", "proved"),), file="my claims.toml", line=11),
    ]
    decisions = [
        Decision("proved"),
        Decision("refuted", witness={"x": "1/2"}),
        Decision("inconclusive", reason="boxes"),
        Decision("inconclusive", reason="time"),
    ]
    log = json.loads(sarif.render(build(claims, decisions)))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    found = [(r["ruleId"], r["level"], r["partialFingerprints"]["reading/v1"]) for r in run["results"]]
    assert found == [
        ("drift", "error", "bad: r"),
        ("failed", "error", "new: r"),
        ("open", "warning", "late: r"),
    ]
    assert {r["ruleId"] for r in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "my%20claims.toml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 7}
    assert "x = 1/2" in run["results"][0]["message"]["text"]


def test_the_latex_table_escapes_every_character_that_tex_reads():
    hostile = r"50% of $x_1^2$ & {a}#~\input{/etc/passwd}" + "\n\n\\end{longtable} \u03c3 <|>"
    claim = ClaimSpec("a_b", (Reading(hostile, "x**2 <= 3", "proved"),), "p&q")
    text = latex.render(build([claim], [Decision("proved", value={"lo": "1", "hi": "2"})]))
    row = next(line for line in text.splitlines() if r"a\_\allowbreak{}b" in line)
    assert r"50\% of \$x\_1\textasciicircum{}2\$ \& \{a\}\#\textasciitilde{}" in row
    assert r"\textbackslash{}input\{/etc/passwd\}" in row
    assert r"[U+03C3] \textless{}\textbar{}\textgreater{}" in row
    assert text.count(r"\end{longtable}") == 1
    assert text.isascii()
    # Four cells a row, whatever the texts hold.
    assert len(re.findall(r"(?<!\\)&", row)) == 3


def test_the_parts_of_the_trust_bases_that_occur_are_explained():
    claim = ClaimSpec("a.b", (Reading("as stated", "1 == 1", "certified"),), "paper")
    text = html.render(build([claim], [Decision("certified", trust=("arb", "mpfr"))]))
    assert "<dt>mpfr</dt>" in text
    assert "<dt>flint</dt>" not in text
