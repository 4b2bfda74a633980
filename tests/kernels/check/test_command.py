"""``gateproof kernels check`` as people and CI call it."""

from __future__ import annotations

import json

import pytest

from gateproof.proofs_check.cli import main

pytest.importorskip("torch")


def test_json_has_what_the_contract_says(capsys):
    assert main(["kernels", "check", "relu", "--json", "--code", "torch", "--dtype", "bfloat16"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is True
    rows = found["results"]
    assert [r["direction"] for r in rows] == ["forward", "backward"]
    for row in rows:
        assert {"op", "direction", "dtype", "max_ulp", "not_correctly_rounded", "inputs", "passed"} <= set(
            row
        )
        assert (row["op"], row["dtype"], row["inputs"], row["max_ulp"], row["passed"]) == (
            "relu", "bfloat16", 65536, 0.0, True,
        )  # fmt: skip


def test_a_row_that_fails_ends_with_1(capsys, monkeypatch):
    import torch

    from gateproof.kernels.check import operations

    monkeypatch.setattr(
        "gateproof.kernels.check.run.call_of", lambda _: lambda x: torch.relu(x) * (1 + 2.0**-6)
    )
    assert operations.CHECKED
    assert main(["kernels", "check", "relu", "--code", "torch", "--dtype", "bfloat16"]) == 1
    assert "FAILED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["no_such_gate"], 5, "no operation fits; there are sigmoid, silu"),
        (["relu", "--code", "cuda"], 2, "invalid choice"),
        (["relu", "--dtype", "int8"], 2, "invalid choice"),
    ],
)
def test_bad_input_is_one_line(capsys, words, code, said):
    assert main(["kernels", "check", *words]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_an_action_is_needed(capsys):
    assert main(["kernels"]) == 2
    assert "ACTION" in capsys.readouterr().err


def test_without_triton_its_rows_are_not_run(capsys, monkeypatch):
    monkeypatch.setattr("gateproof.kernels.choice.has_triton", lambda: False)
    assert main(["kernels", "check", "relu", "--dtype", "bfloat16"]) == 0
    out = capsys.readouterr().out
    assert "not run" in out
    assert "Triton is not installed" in out


def test_the_interpreter_has_a_process_of_its_own(capsys):
    pytest.importorskip("triton")
    assert main(["kernels", "check", "relu", "--code", "triton", "--dtype", "bfloat16", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert {r["code"] for r in rows} == {"triton"}
    assert all(r["max_ulp"] == 0 for r in rows)
