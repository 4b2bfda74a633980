"""Kernels compiled without a GPU: counted rightly, compiled as a launch would, no worse than the table."""

from __future__ import annotations

import dataclasses
import json

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from gateproof.kernels import choice, functional  # noqa: E402
from gateproof.kernels.ahead import run, table, targets  # noqa: E402
from gateproof.kernels.ahead.cases import Case, cases, launches  # noqa: E402
from gateproof.kernels.ahead.counts import Counts, amd, nvidia  # noqa: E402
from gateproof.kernels.ahead.table import Row, Table  # noqa: E402
from gateproof.kernels.start import noted  # noqa: E402
from gateproof.proofs_check.cli import main  # noqa: E402

LISTING = """
Resource usage:
 Common:
 GLOBAL:0
 Function kernel:
  REG:37 STACK:{stack} SHARED:0 LOCAL:0 CONSTANT[0]:608 TEXTURE:0 SURFACE:0 SAMPLER:0
        Function : kernel
        /*0000*/                   LDC R1, c[0x0][0x28] ;                  /* 0x00000a00ff017b82 */
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;        /* 0x0000000402048981 */
        /*0020*/                   LDG.E.U16 R5, desc[UR4][R2.64+0x20] ;   /* 0x0000200402058981 */
        /*0030*/              @P1  FFMA R6, R5, R5, R4 ;                   /* 0x0000000505067223 */
        {extra}
        /*0040*/                   STG.E.64 desc[UR4][R2.64], R6 ;         /* 0x0000000602007986 */
        /*0050*/                   STG.E desc[UR4][R2.64], R6 ;            /* 0x0000000602007986 */
        /*0060*/                   EXIT ;                                  /* 0x000000000000794d */
        /*0070*/                   NOP;                                    /* 0x0000000000007918 */
"""
AMD = """
kernel:
\ts_load_dwordx4 s[4:7], s[0:1], 0x0
\tglobal_load_dwordx4 v[0:3], v4, s[4:5]
\tbuffer_load_ushort v5, v4, s[4:7], 0 offen
\tv_add_f32_e32 v0, v0, v5
\tbuffer_store_dwordx2 v[0:1], v4, s[4:7], 0 offen
\ts_endpgm
\t.amdgpu_metadata
    .private_segment_fixed_size: {segment}
    .sgpr_spill_count: 0
    .vgpr_count:     6
    .vgpr_spill_count: {spills}
"""
ROW = Row("sm_90", "swiglu", "forward", "bf16", Counts(40, 0, 400, {"128": 2}, {"128": 1}))
HARD = ["threshold_gate K=2 hard", "--arch", "sm_90", "--dtype", "bf16"]


def test_instructions_of_nvidia_are_counted():
    clean = LISTING.format(stack=0, extra="")
    assert nvidia(clean) == Counts(37, 0, 7, {"128": 1, "16": 1}, {"64": 1, "32": 1})
    spilled = nvidia(LISTING.format(stack=8, extra="/*0038*/  STL [R1], R16 ;  /* 0x0 */"))
    assert (spilled.spills, spilled.instructions) == (8, 8)


def test_instructions_of_amd_are_counted():
    assert amd(AMD.format(segment=0, spills=0)) == Counts(6, 0, 6, {"128": 1, "16": 1}, {"64": 1})
    assert amd(AMD.format(segment=0, spills=3)).spills == 3
    assert amd(AMD.format(segment=16, spills=0)).spills == 16


@pytest.mark.parametrize("read", [nvidia, amd])
def test_a_text_without_instructions_is_refused(read):
    with pytest.raises(ValueError, match="no registers or no instructions"):
        read("error: no such file")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"registers": 48, "instructions": 420, "loads": {"256": 1}}, ""),
        ({"registers": 49}, "registers 40 -> 49"),
        ({"instructions": 421}, "instructions 400 -> 421"),
        ({"spills": 1}, "1 spilled"),
        ({"loads": {"64": 4}}, "loads 2x128 -> 4x64"),
        ({"stores": {"128": 1, "16": 8}}, "stores 1x128 -> 1x128+8x16"),
        ({"stores": {"64": 1}}, "stores 1x128 -> 1x64"),
    ],
)
def test_what_is_worse_than_the_table_is_said(change, said):
    known = Table("3.9.0", {ROW.key: ROW.counts})
    now = dataclasses.replace(ROW, counts=dataclasses.replace(ROW.counts, **change))
    assert table.regressions(now, known, "3.9.0") == ([said] if said else [])


def test_another_compiler_is_judged_by_spills_and_widths_alone():
    known = Table("3.9.0", {ROW.key: ROW.counts})
    worse = dataclasses.replace(ROW, counts=Counts(99, 2, 999, {"32": 8}, {"128": 1}))
    assert table.regressions(worse, known, "4.0.0") == ["2 spilled", "loads 2x128 -> 8x32"]
    assert "not in the table" in table.regressions(dataclasses.replace(ROW, type="fp32"), known, "3.9.0")[0]


def test_a_table_is_read_as_it_was_written():
    text = table.written("3.9.0", [ROW], {"old": ROW.counts})
    assert table.read(text) == Table("3.9.0", {"old": ROW.counts, ROW.key: ROW.counts})


def test_the_table_holds_every_case_and_no_spill():
    found = table.read()
    wanted = {
        f"{architecture} {case.name} {direction} {kind}"
        for architecture in targets.ARCHITECTURES
        for case in cases()
        for direction in case.directions
        for kind in ("bf16", "fp32")
    }
    assert set(found.rows) == wanted
    assert [key for key, c in found.rows.items() if c.spills] == []
    # Nothing but whole 128-bit pieces where lengths are even, and those in the whole blocks of odd ones.
    products = {k: c for k, c in found.rows.items() if "glu" in k}
    assert {max(map(int, side)) for c in products.values() for side in (c.loads, c.stores)} <= {128, 256}
    even = [c for k, c in products.items() if "ragged" not in k]
    assert all(len(side) == 1 for c in even for side in (c.loads, c.stores))


def keys(monkeypatch, call):
    """What Triton was about to compile: names and types of arguments, constants, divisibility, options."""
    seen = []

    def hook(**given):
        about = given["compile"]
        assert about["configs"]
        seen.append({k: str(v) for k, v in about.items() if k not in ("is_warmup", "specialization_data")})
        return True

    monkeypatch.setattr(triton.knobs.runtime, "jit_cache_hook", hook)
    with targets.card("sm_90"):
        call()
    return seen


@pytest.mark.parametrize("name", ["swiglu ragged", "threshold_gate K=2 by channel", "tg_softmax"])
def test_what_is_compiled_is_what_a_launch_compiles(monkeypatch, name):
    case = next(c for c in cases() if c.name == name)
    found = [launch for direction, launch in launches(case, "bf16") if direction == "forward"]
    ahead = keys(monkeypatch, lambda: [targets.compiled(launch, "sm_90") for launch in found])
    # Without a GPU the launcher itself is let through: Triton then specialises the kernel and is stopped.
    monkeypatch.setattr(choice, "interpreted", lambda: True)
    with choice.use("triton"):
        launched = keys(monkeypatch, lambda: case.call(torch.bfloat16))
    assert ahead == launched != []


def test_divisibility_is_that_of_the_arguments():
    """A view that starts at an odd element is not aligned: its loads must come out narrow."""

    def call(dtype):
        g, u = (torch.empty(2**20 + 1, dtype=dtype, requires_grad=True) for _ in range(2))
        return functional.swiglu(g[1:], u[1:])

    (_, launch), *_ = launches(Case("swiglu", call), "bf16")
    found = dataclasses.replace(ROW, counts=run.counts(targets.compiled(launch, "sm_90")))
    known = Table("", {ROW.key: ROW.counts})
    assert table.regressions(found, known, triton.__version__) == ["loads 2x128 -> 16x16"]


def test_noting_runs_nothing_and_ends_with_its_block():
    with choice.use("triton"), noted() as found:
        functional.swiglu(torch.ones(4), torch.ones(4))
    assert [launch.grid for launch in found] == [(1,)]
    with choice.use("triton"), pytest.raises(RuntimeError, match="only in its interpreter"):
        functional.swiglu(torch.ones(4), torch.ones(4))


@pytest.mark.parametrize(
    ("name", "architecture"), [("swiglu packed", "sm_90"), ("threshold_gate K=2 hard", "gfx942")]
)
def test_a_kernel_is_as_in_the_table(name, architecture):
    found = [row for row in run.rows([name], [architecture], ["bf16"]) if row.operation == name]
    assert [row.direction for row in found] == ["forward", "backward"]
    assert [table.regressions(row, table.read(), triton.__version__) for row in found] == [[], []]


@pytest.mark.deep
@pytest.mark.parametrize("architecture", targets.ARCHITECTURES)
def test_all_kernels_are_as_in_the_table(architecture):
    assert main(["kernels", "compile", "--check", "--arch", architecture]) == 0


def test_the_command(monkeypatch, capsys):
    assert main(["kernels", "compile", *HARD, "--check"]) == 0
    assert "2 as in the table or better, 0 worse" in capsys.readouterr().out
    better = {k: dataclasses.replace(c, instructions=10) for k, c in table.read().rows.items()}
    monkeypatch.setattr(table, "read", lambda: Table(triton.__version__, better))
    assert main(["kernels", "compile", *HARD, "--check", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["passed"] is False
    assert {(r["direction"], r["passed"]) for r in document["results"]} == {
        ("forward", False),
        ("backward", False),
    }
    assert main(["kernels", "compile", *HARD]) == 0


def test_an_architecture_without_a_compiler_is_not_run(monkeypatch, capsys):
    monkeypatch.setattr(run, "missing", lambda _: "no compiler")
    assert main(["kernels", "compile", *HARD, "--check"]) == 0
    assert "not run: no compiler" in capsys.readouterr().out


def test_refusals(monkeypatch, capsys):
    assert main(["kernels", "compile", "relu"]) == 5
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert main(["kernels", "compile", *HARD]) == 2
    monkeypatch.delenv("TRITON_INTERPRET")
    from gateproof.proofs_check.cli import kernels_compile

    monkeypatch.setattr(kernels_compile, "find_spec", lambda name: None if name == "triton" else True)
    assert main(["kernels", "compile", *HARD]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert "triton is not installed" in said[2]
