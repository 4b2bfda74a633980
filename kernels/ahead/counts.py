"""What stands in compiled code: registers, spills, the width of each access, instructions.

NVIDIA: the code that a card runs, taken apart by the ``cuobjdump`` in Triton's wheel. Every access to local
memory is counted as a spill: these kernels have no arrays of their own. AMD: the assembler text with the
compiler's own summary; scalar registers that it keeps in lanes of vector registers reach no memory and are no
spills here.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NVIDIA = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", re.MULTILINE)
_AMD = re.compile(r"^\t([a-z]+_\w+)", re.MULTILINE)
_WORDS = {"ubyte": 8, "byte": 8, "ushort": 16, "short": 16, "dword": 32}


@dataclass(frozen=True)
class Counts:
    """Of one kernel. ``loads`` and ``stores``: how many accesses of each width in bits, widest first."""

    registers: int
    spills: int
    instructions: int
    loads: dict[str, int]
    stores: dict[str, int]


def counts(kernel: Any) -> Counts:
    """The counts of what Triton compiled."""
    return amd(kernel.asm["amdgcn"]) if "amdgcn" in kernel.asm else _nvidia(kernel.asm["cubin"])


def _nvidia(cubin: bytes) -> Counts:
    from triton import knobs

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        command = [knobs.nvidia.cuobjdump.path, "-sass", "-res-usage", str(file)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return nvidia(text)


def nvidia(text: str) -> Counts:
    """The counts of cuobjdump's listing. Raises ValueError for a text that is none."""
    usage = re.search(r"REG:(\d+) STACK:(\d+)", text)
    codes = [c for c in _NVIDIA.findall(text) if c != "NOP"]
    if usage is None or not codes:
        raise ValueError("no registers or no instructions in the listing of cuobjdump")
    local = sum(c.startswith(("LDL", "STL")) for c in codes)
    loads = Counter(_nvidia_bits(c) for c in codes if c.startswith("LDG"))
    stores = Counter(_nvidia_bits(c) for c in codes if c.startswith("STG"))
    return Counts(int(usage[1]), max(local, int(usage[2])), len(codes), _by_width(loads), _by_width(stores))


def _nvidia_bits(code: str) -> int:
    """The width of LDG.E.128 and the like: 32 where none is written, U8 and S16 narrower ones."""
    for part in code.split("."):
        width = re.fullmatch(r"[USF]?(8|16|64|128|256)", part)
        if width:
            return int(width[1])
    return 32


def amd(text: str) -> Counts:
    """The counts of the text of AMD's compiler. Raises ValueError for a text that is none."""
    said = {k: int(v) for k, v in re.findall(r"\.(\w+_count|private_segment_fixed_size):\s+(\d+)", text)}
    codes = [c for c in _AMD.findall(text) if c != "s_nop"]
    if "vgpr_count" not in said or not codes:
        raise ValueError("no registers or no instructions in the text of AMD's compiler")
    scratch = sum(c.startswith("scratch") for c in codes)
    spills = max(said.get("vgpr_spill_count", 0), said.get("private_segment_fixed_size", 0), scratch)
    widths: dict[str, Counter[int]] = {"load": Counter(), "store": Counter()}
    for code in codes:
        found = re.fullmatch(r"(?:global|flat|buffer)_(load|store)_([a-z]+)(?:x(\d))?(?:_\w+)?", code)
        if found:
            widths[found[1]][_WORDS.get(found[2], 32) * int(found[3] or 1)] += 1
    return Counts(
        said["vgpr_count"], spills, len(codes), _by_width(widths["load"]), _by_width(widths["store"])
    )


def _by_width(found: Counter[int]) -> dict[str, int]:
    return {str(bits): found[bits] for bits in sorted(found, reverse=True)}
