"""The benches measure what they say, on machines without a GPU too."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")

from gateproof.kernels.bench import cpu, gpu, measure, operations, report  # noqa: E402
from gateproof.kernels.bench.layers import layers  # noqa: E402
from gateproof.proofs_check.cli import main  # noqa: E402

CPU = torch.device("cpu")


def slow_codes(operation):
    return {"ours": operations.chosen(operation.ours, "torch"), "eager": operation.textbook}


def test_median_and_spread():
    warm = [99.0] * 3
    seconds = iter([*warm, 4.0, 1.0, 3.0, 2.0])
    found = measure.timed({"a": lambda: next(seconds)}, 4)["a"]
    # Quartiles of 1, 2, 3, 4 (exclusive) are 1.25 and 3.75.
    assert found == {"median": 2.5, "least": 1.0, "spread": 1.0}


def test_candidates_take_turns():
    order = []
    measure.timed({name: (lambda n=name: order.append(n) or 1.0) for name in "ab"}, 3)
    assert "".join(order) == "ab" * 6


@pytest.mark.parametrize("operation", operations.operations(), ids=lambda o: o.name)
def test_the_textbook_is_the_same_function(operation):
    x = [torch.linspace(-3, 3, 61, dtype=torch.float64), torch.linspace(1, 2, 61, dtype=torch.float64)]
    ours, book = (f(*x[: operation.tensors]) for f in (operation.ours, operation.textbook))
    assert torch.allclose(ours, book, rtol=1e-12, atol=1e-14)


def test_bytes_are_those_of_inputs_and_outputs():
    rows = gpu.bandwidths(operations.selected(["swiglu"]), CPU, [(8, 32)], 2, slow_codes)
    # Forward: two tensors read, one written; backward: three read, two written.
    tensors, size = {"forward": 3, "backward": 5}, {"bf16": 2, "fp32": 4}
    assert len(rows) == 8
    for row in rows:
        moved = row["gb_s"] * 1e9 * row["median"]
        assert moved == pytest.approx(tensors[row["direction"]] * 256 * size[row["dtype"]])
        assert row["of_copy"] == pytest.approx(row["gb_s"] / row["copy_gb_s"])


def test_a_report_of_a_gpu():
    document = {
        "device": "cuda",
        "name": "none",
        "versions": {"torch": "2"},
        "rows": gpu.bandwidths(operations.selected(["memglu*"]), CPU, [(2, 16)], 2, slow_codes),
        "layers": layers(CPU, torch.float32, 2, [(4, 8, 16)]),
    }
    said = report.text(document).splitlines()
    assert len(said) == 1 + 16 + 1
    assert said[-1].startswith("layer of 4 tokens, 8 to 16: MemGLU takes ")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to measure on")
def test_without_a_gpu_nothing_is_measured(capsys):
    assert main(["kernels", "bench", "--device", "cuda"]) == 0
    assert capsys.readouterr().out == "not measured: no GPU\n"
    assert main(["kernels", "bench", "swiglu", "--device", "cuda", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["name"] is None
    assert len(document["rows"]) == 4
    assert {row["not_run"] for row in document["rows"]} == {"not measured: no GPU"}


def test_ratios_on_a_cpu(monkeypatch, capsys):
    monkeypatch.setattr(cpu, "_codes", slow_codes)
    found = cpu.here(["memglu"], 3, 64)
    rows = {(r["op"], r["code"], r["direction"]): r for r in found["rows"]}
    mine, silu = rows["memglu gate", "ours", "both"], rows["F.silu", "PyTorch", "both"]
    assert mine["to_silu"] == mine["least"] / silu["least"]
    assert "memglu gate, ours, with gradients" in report.text(found)


def test_the_command_measures_in_a_process_of_its_own(monkeypatch, capsys):
    monkeypatch.setattr(cpu.sys, "executable", "/bin/false")
    assert main(["kernels", "bench", "swiglu", "--device", "cpu"]) == 3
    assert main(["kernels", "bench", "relu", "--device", "cpu"]) == 5
