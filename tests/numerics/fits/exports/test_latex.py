"""LaTeX of gates, and their HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from gates_to_export import gate, named, zoo

from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.html import html_summary
from gateproof.numerics.fits.exports.latex import latex


def test_a_gate_is_written_out():
    one = gate([1, "2.5"], [0, "-0.5"], [0, "-1", "0.5"], ["0.25", 0, "-3"])
    assert latex(one).split("\n") == [
        r"\begin{aligned}",
        r"z_{1} &= x \\",
        r"z_{2} &= 2.5 \, \left(x + 0.5\right) \\",
        r"g_{1} &= \sigma(-z_{1}) \\",
        r"g_{2} &= \sigma(z_{1}) - \sigma(z_{2}) \\",
        r"g_{3} &= \sigma(z_{2}) \\",
        r"y &= g_{1} \left(0.25\right) + g_{2} \left(-x\right) + g_{3} \left(0.5 \, x - 3\right) \\",
        r"\sigma(z) &= \frac{1}{1 + e^{-z}}",
        r"\end{aligned}",
        "",
    ]
    assert r"[x \le 0.25]" in latex(gate(["oo"], ["0.25"], [0, 1], [0, 0]))
    assert r"\frac{\pi}{2} \, x" in latex(named()["symbolic"])
    assert "y &= 0\n" in latex(named()["zero"])


def test_all_gates_are_balanced():
    for name, one in zoo(10).items():
        text = latex(one)
        assert text.count("{") == text.count("}"), name
        assert text.count(r"\left(") == text.count(r"\right)"), name
        assert text.count("&=") == text.count("\n") - 2, name
        assert not re.search(r"[+-] *-|\+ *\\left\(-\d", text), name


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - its signature
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_escaped():
    text = html_summary(named()["free"], About(target="<script>alert(1)</script>&", lo="1", hi="2"))
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in text
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert set(tags.seen) == {"div", "table", "tr", "th", "td"}
