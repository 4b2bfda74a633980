"""Misspelt words of the command line: one line that says what may have been meant, in the command's words."""

from __future__ import annotations

import pytest

import gateproof
from gateproof.numerics.fits.exports.registry import SUFFIXES
from gateproof.proofs_check.cli import main


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("fot", "gelu"), "'fot' is no command; did you mean fit?"),
        (("fit", "gelu", "--shapness", "hard"), "did you mean --sharpness? (see gateproof fit --help)"),
        (("fit", "gelu", "--shapness=hard"), "did you mean --sharpness? (see gateproof fit --help)"),
        (("fit", "gelu", "--zzzz"), "unrecognized arguments: --zzzz (see gateproof fit --help)"),
        (("fit", "gelu", "--domain", "-8", "8"), 'give --domain "[-8, 8]"'),
        (("fit", "GELU"), "did you mean 'gelu'?"),
        (("fit", "gelu", "-k", "0"), "give a whole number from 1 to 16 (hard gates: 64)"),
        (("fit", "gelu", "-k", "17"), "give a whole number from 1 to 16 (hard gates: 64)"),
        (("fit", "gelu", "--domain", "[1,"), 'give --domain "[-8, 8]"'),
        (("fit", "exp(x)"), 'give an interval, as --domain "[-8, 8]"'),
        (("fit", "--allow-code", "act"), "give MODULE:FUNCTION, as act:f"),
        (("fit", "--allow-code", "act.py"), "give MODULE:FUNCTION, as act:f"),
        (("fit", "--allow-code", "act.py:f"), "give the module without .py, as act:f"),
        (("fit", "--allow-code", "math:pi"), "math:pi is of type float; give a function"),
    ],
)
def test_one_line_says_what_may_have_been_meant(capsys, words, part):
    assert main(list(words)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert part in err


def test_in_python_the_domain_is_an_argument():
    with pytest.raises(gateproof.RefusedError, match=r'give an interval, as domain="\[-8, 8\]"'):
        gateproof.fit("exp(x)")


def test_a_size_that_was_a_percentage(capsys):
    gate = "tg(x, tau=1.702, theta=[0], slope=[0, 1], intercept=[0, 0])"
    assert main(["certify", f"sup(abs({gate} - gelu(x)), x in R)", "--tolerance", "tau=5"]) == 2
    assert "did you mean 5%?" in capsys.readouterr().err


def test_help_lists_all_forms(capsys):
    assert main(["fit", "--help"]) == 0
    shown = capsys.readouterr().out
    assert [s for s in SUFFIXES if s not in shown] == []
    assert ".pdf" in shown
    assert "KEY=NUMBER,.." in shown


@pytest.mark.parametrize(
    ("target", "part"),
    [("sin(x)", "for x -> -oo and x -> oo sin(x) approaches no line"), ("gelu", "the slopes differ")],
)
def test_why_the_error_outside_is_infinite(capsys, target, part):
    assert main(["fit", target, "--domain", "[-3, 3]", "--sharpness", "hard"]) == 0
    line = next(s for s in capsys.readouterr().out.splitlines() if s.startswith("  outside"))
    assert "the error on R is infinite" in line
    assert part in line
