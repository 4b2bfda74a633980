"""The lines of ``certify`` about places in several names, tolerances, noise and given gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateproof.proofs_check.render import words


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """What stands under the value."""
    if found.get("place"):
        yield f"near {_names(found['place'])}"
    if found.get("worst_value"):
        yield f"worst case: {words.enclosure(found['worst_value'])}"
    if found.get("worst"):
        if found["worst"]["at"]:
            yield f"near {_names(found['worst']['at'])}"
        gates = found["worst"]["gates"]
        for number, gate in enumerate(gates, 1):
            name = f"gate {number} " if len(gates) > 1 else ""
            yield f"{name}with {_gate(gate)}"
    if found.get("nominal"):
        yield f"nominal: {words.enclosure(found['nominal'])}"
    if found.get("tolerance"):
        yield f"tolerance: {sizes(found['tolerance'])}"
    if found.get("gate"):
        yield f"gate: {_gate(found['gate'])}"


def device(found: Mapping[str, Any]) -> str:
    """The worst device of a tolerance, as the end of a line: its place, and what is off in it."""
    worst = found.get("worst")
    if not worst:
        return ""
    kept = ({key: gate[key] for key in found["tolerance"]} for gate in worst["gates"])
    off = [_gate({k: [v if isinstance(v, str) else v["lo"] for v in g[k]] for k in g}) for g in kept]
    place = f", near {_names(worst['at'])}" if worst["at"] else ""
    return f"{place}, with {'; '.join(off)}"


def noise(block: Mapping[str, Any]) -> Iterator[str]:
    """What a sample of devices says."""
    devices = "1 device" if block["samples"] == 1 else f"{block['samples']} devices"
    yield f"noise: {sizes(block['sizes'])}; {devices}, seed {block['seed']}; a sample, no proof"
    yield f"  mean {block['mean']}, deviation {block['deviation']}"
    for key, name in (("median", "median"), ("q95", "95 % quantile"), ("q99", "99 % quantile")):
        part = block[key]
        low, high = (part[end] or "?" for end in ("lo", "hi"))
        short = " (too few devices for both ends)" if "?" in (low, high) else ""
        yield f"  {name} {part['value']} in [{low}, {high}]{short}"
    confidence = f"{100 * float(block['confidence']):g} %"
    yield f"  least {block['least']}, largest {block['largest']}; confidence of the intervals {confidence}"
    for key, what in (
        ("redrawn", "sharpnesses <= 0 drawn again"),
        ("crossed", "devices with thresholds crossed"),
    ):
        if block[key]:
            yield f"  {what}: {block[key]}"
    if "verdict" in block:
        beyond = block["beyond"]
        yield (
            f"  beyond the bound: {beyond['count']} of {block['samples']}, "
            f"share {beyond['share']} in [{beyond['lo']}, {beyond['hi']}]"
        )
        yield f"  {block['verdict']}: {block['finding']}"


def _names(place: Mapping[str, Mapping[str, str]]) -> str:
    """A point that was found, as decimals: it encloses nothing."""
    return ", ".join(f"{name} = {value['lo']}" for name, value in place.items())


def sizes(given: Mapping[str, str]) -> str:
    """The sizes of a tolerance or of noise, by parameter."""
    return ", ".join(f"{key} {size}" for key, size in given.items())


def _gate(gate: Mapping[str, Any]) -> str:
    """One gate's parameters; a list in brackets."""
    parts = []
    for key, values in gate.items():
        shown = [v if isinstance(v, str) else words.enclosure(v) for v in values]
        parts.append(f"{key} = [{', '.join(shown)}]")
    return ", ".join(parts)
