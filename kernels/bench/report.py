"""The tables that people read."""

from __future__ import annotations

from typing import Any


def text(found: dict[str, Any]) -> str:
    """A document of a run as lines."""
    if found.get("not_run"):
        return f"{found['not_run']}\n"
    return _cpu(found) if found["device"] == "cpu" else _gpu(found)


def _cpu(found: dict[str, Any]) -> str:
    allocator = ", ".join(f"{k}={v or 'not set'}" for k, v in found["allocator"].items())
    machine = f"CPU {found['name']}, torch {found['torch']}, {found['threads']} threads"
    lines = [
        f"{machine}, {found['elements']} float32, {found['clock']}",
        f"allocator: {allocator}",
        f"{'':58}{'least':>10} {'spread':>7} {'/copy':>6} {'/F.silu':>8}",
    ]
    for r in found["rows"]:
        goal = "" if "goal" not in r else f"  goal {r['goal']}: {'met' if r['met'] else 'MISSED'}"
        named = f"{r['op']}, {r['code']}, {'with gradients' if r['direction'] == 'both' else 'forward'}"
        lines.append(
            f"{named:58.58}{r['least'] * 1e3:8.2f} ms {r['spread']:5.0%} {r['to_copy']:6.2f} "
            f"{r['to_silu']:8.2f}{goal}"
        )
    return "\n".join(lines) + "\n"


def _gpu(found: dict[str, Any]) -> str:
    said = ", ".join(f"{k} {v or 'not installed'}" for k, v in found["versions"].items())
    lines = [f"{found['name']}: {said}"]
    for r in found["rows"]:
        shape = "x".join(map(str, r["shape"]))
        memory = "" if r["peak_bytes"] is None else f"  peak {r['peak_bytes'] / 2**20:7.0f} MiB"
        lines.append(
            f"{r['op']:20}{r['direction']:9}{r['dtype']:5}{shape:12}{r['code']:19}{r['gb_s']:7.0f} GB/s  "
            f"{r['of_copy']:6.1%} of a copy  spread {r['spread']:.0%}{memory}"
        )
    for r in found["layers"]:
        memory = "" if r["more_memory"] is None else f", {r['more_memory']:+.2%} memory"
        lines.append(
            f"layer of {r['tokens']} tokens, {r['width']} to {r['hidden']}: MemGLU takes "
            f"{r['more_time']:+.2%} time{memory} beside SwiGLU"
        )
    return "\n".join(lines) + "\n"
