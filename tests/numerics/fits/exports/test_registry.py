"""Exports of a fit by the end of a file's name."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from gates_to_export import named

import gateproof
from gateproof.numerics.fits.exports import EXPORTS, SUFFIXES, RefusedExport, about_of, export_of, render
from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.result import Error, Fit, Status
from gateproof.numerics.fits.target import Target
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.gate import Gate


def fitted(name="free", target="gelu(x)"):
    error = Error(Fraction("0.01392"), Fraction("0.01393"), "certified")
    goal = Target(target, lambda x: np.maximum(x, 0.0))
    return Fit(named()[name], goal, Request(branches=3), error, Status.OK, "done", ((0.5, 0.0139),))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gate.json", "json"), ("a/b/gate.JSON", "json"), ("x.hardware.json", "hardware"), ("x.py", "python"),
        ("x.torch.py", "torch"), ("gate_torch.py", "torch"), (".h", "c-header"), ("x.c", "c"),
        ("x.onnx", "onnx"),
        ("x.double.onnx", "onnx-double"), ("x.csv", "csv"), ("x.md", "markdown"), ("x.tex", "latex"),
    ],
)  # fmt: skip
def test_the_format_of_a_name(name, kind):
    assert export_of(name).kind == kind


@pytest.mark.parametrize("name", ["", "gate", "gate.pt", "json", "gate.json.gz", "gate\n.xyz"])
def test_names_that_ask_for_nothing(name):
    with pytest.raises(RefusedExport) as caught:
        export_of(name)
    assert "\n" not in str(caught.value)
    assert ".onnx" in str(caught.value)


def test_every_format_is_made_and_is_the_same_again():
    pytest.importorskip("onnx", reason="onnx is not installed")
    fit = fitted()
    assert len(SUFFIXES) == len({*SUFFIXES}) == 11
    for export in EXPORTS:
        for suffix in export.suffixes:
            made = render(fit, f"gate{suffix}")
            assert isinstance(made, bytes)
            assert made
            assert made == render(fit, f"gate{suffix}")
            if "onnx" not in suffix:
                assert made.isascii()
                assert made.endswith(b"\n")
    ast.parse(render(fit, "x.py"))
    ast.parse(render(fit, "x_torch.py"))
    assert b"Certified: sup |gate - target| over x in R is between 0.01392" in render(fit, "x.h")


@pytest.mark.parametrize("name", ["x.py", "x_torch.py", "x.h", "x.tex", "x.csv", "x.md", "x.hardware.json"])
def test_the_version_is_said(name):
    text = render(fitted(), name).decode()
    assert "gateproof" in text
    assert gateproof.__version__ in text


def test_the_words_are_those_of_the_format_that_a_fit_declares():
    fit = gateproof.fit("gelu(x)", 2, quantise=8)
    declared = dict(re.findall(r"(tau|theta|slope|intercept) n(?:/2\^)(\d+)", fit.message))
    assert set(declared) == {"tau", "theta", "slope", "intercept"}
    for row in json.loads(render(fit, "x.hardware.json"))["parameters"]:
        bits = declared[row["parameter"].partition("_")[0]]
        assert row["fixed_point"] == f"{row['word']}/2^{bits}"
        assert Fraction(row["value"]) == Fraction(int(row["word"]), 2 ** int(bits))
        assert abs(int(row["word"])) < 2**7


@pytest.mark.parametrize("name", ["free", "symbolic", "mixed", "stick", "softmax", "hard_tanh", "constant"])
def test_the_json_reads_back_to_the_gate(name):
    document = json.loads(render(fitted(name), "gate.json"))
    parts = [
        tuple(expand(parse_expr(t)) for t in document[key]) for key in ("tau", "theta", "slope", "intercept")
    ]
    assert Gate(*parts, document["gates"]) == named()[name]
    assert document["target"] == "gelu(x)"


def test_a_rank_in_the_name_of_an_onnx_file():
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    for name, rank in (
        ("gate.rank4.onnx", 4), ("rank2.onnx", 2), ("gate.RANK1.double.onnx", 1), ("gate.rank0.onnx", 0),
        ("gate.onnx", None), ("gate.double.onnx", None), ("frank4.onnx", None),
        ("gate.rank10.onnx", 10), ("gate.rank100.onnx", None),
    ):  # fmt: skip
        (given,) = onnx.load_from_string(render(fitted(), name)).graph.input
        shape = given.type.tensor_type.shape if given.type.tensor_type.HasField("shape") else None
        assert (None if shape is None else len(shape.dim)) == rank, name


def test_the_pair_of_a_hardware_table():
    usual, warm = (
        json.loads(render(fitted(), "x.hardware.json", hardware=given))["pair"]
        for given in (None, {"temperature_kelvin": 360, "tail_ampere": "1e-9"})
    )
    assert (usual["temperature_kelvin"], warm["temperature_kelvin"]) == ("300", "360")
    assert float(warm["thermal_volts"]) == pytest.approx(1.2 * float(usual["thermal_volts"]), rel=1e-5)
    assert warm["tail_ampere"] == "1e-9"
    for name in ("x.csv", "x.md"):
        assert b"temperature_kelvin" in render(fitted(), name, hardware="temperature-kelvin=360")
        with pytest.raises(RefusedExport, match="slope factor"):
            render(fitted(), name, hardware="slope-factor=0.5")


def test_the_functions_name_is_checked():
    assert b"def my_gate(x):" in render(fitted(), "x.py", function="my_gate")
    with pytest.raises(RefusedExport, match="reserved"):
        render(fitted(), "x.py", function="exp")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("out/gelu3.h", "gelu3"),
        ("my-gelu.v2.c", "my_gelu"),
        ("exp.h", "gate"),
        ("free.c", "gate"),
        ("i.c", "gate"),
        ("3.h", "gate"),
        (".h", "gate"),
    ],
)
def test_a_c_function_has_the_files_name(name, function):
    text = render(fitted(), name).decode()
    inline = name.endswith(".h")
    assert f"\n{'static inline ' * inline}double {function}(double x)\n" in text
    assert (f"#ifndef GATEPROOF_{function.upper()}_H" in text) == inline
    assert ("static" in text) == inline


def test_what_is_said_of_the_error():
    fit = fitted()
    assert about_of(fit).error_line.startswith(
        "Certified: sup |gate - target| over x in R is between 0.01392"
    )
    relative = replace(fit, request=Request(branches=3, norm="relative"))
    assert "sup |gate - target|/|target| over" in about_of(relative).error_line
    rms = replace(fit, request=Request(branches=3, norm="rms"), measure="x ~ N(0, 1)", error=Error(
        Fraction(1, 8), Fraction(1, 8), "enclosed"))  # fmt: skip
    assert about_of(rms).error_line == (
        "Enclosed in ball arithmetic: root mean square of gate - target (x ~ N(0, 1)) over x in R is 0.125"
    )
    heavy = replace(fit.target, weight=lambda x: x * 0 + 2)
    weighted = replace(fit, target=heavy, request=Request(branches=3, weight="exp(-x)\n*/"))
    assert "sup |gate - target| times exp(-x) * / over" in about_of(weighted).error_line
    endless = replace(fit, error=Error(Fraction(0), None, "proved"))
    assert about_of(endless).error_line == "Proved: sup |gate - target| over x in R is oo"


def test_outside_of_an_interval_something_is_said():
    inside = replace(fitted(), target=replace(fitted().target, lo=Fraction(-8), hi=Fraction(8)))
    known = Error(Fraction("0.5"), Fraction("0.6"), "certified")
    for outside, said in (
        (None, "Outside of the domain the error is not known."),
        (Error(Fraction(0), None, "sampled"), "Outside of the domain the error is not known."),
        (Error(Fraction(0), None, "certified"), "Outside of the domain the error is infinite."),
        (known, "Over all of R sup |gate - target| is at most 0.6000000000 (certified)."),
    ):
        text = render(replace(inside, outside=outside), "x.h").decode()
        assert said in text
        assert "over x in [-8, 8] is between" in text
