"""Claims files: TOML in, claims out, or every fault of the files at once.

A file is data: it names no other file, runs nothing, and decides nothing unless all
of it can be read. Formulas and controls are parsed when a file is loaded, so that a
typing error is found before any work is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gateproof.proofs_check.files.claim_table import read_claim, short
from gateproof.proofs_check.files.claims_text import Source, read_source
from gateproof.proofs_check.files.marked import Marked, is_marked, read_marked
from gateproof.proofs_check.files.places import Places
from gateproof.proofs_check.records import ClaimSpec
from gateproof.proofs_check.refused import RefusedError

MAX_CLAIMS = 5_000
MAX_PRINTED = 100
PACKAGED = Path(__file__).resolve().parent / "claims"


def packaged_files() -> list[Path]:
    """List the files of the claims that come with the package."""
    return sorted(PACKAGED.glob("*.toml"))


def load(paths: Iterable[Path]) -> list[ClaimSpec]:
    """Return the claims of all files, in order. Raises RefusedError with every fault found."""
    faults: list[str] = []
    claims: list[ClaimSpec] = []
    taken: dict[str, str] = {}
    for path in paths:
        if is_marked(path):
            claims += _marked(path, faults, taken)
            continue
        try:
            source = read_source(path)
        except RefusedError as error:
            faults += error.lines
        else:
            claims += _claims(source, faults, taken)
    linked, wrong = _linked(claims)
    # Only now: a correction may be a claim that could not be read.
    faults = faults or wrong
    if not faults and len(claims) > MAX_CLAIMS:
        faults = [f"{len(claims)} claims; at most {MAX_CLAIMS} are read at once: name fewer files"]
    if faults:
        more = len(faults) - MAX_PRINTED
        raise RefusedError(faults[:MAX_PRINTED] + ([f"... and {more} more"] if more > 0 else []))
    return linked


def load_packaged() -> list[ClaimSpec]:
    """Return the claims that come with the package."""
    return load(packaged_files())


def _claims(source: Source, faults: list[str], taken: dict[str, str]) -> list[ClaimSpec]:
    path = str(source.path)
    places = Places(source.tables)
    before = len(faults)
    for key in source.data:
        if key != "claim":
            line = places.top(key)
            place = f"{path}:{line}" if line else path
            faults.append(f"{place}: unknown key {short(key)}; all stands in [[claim]] tables")
    tables = source.data.get("claim", [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        faults.append(f"{path}: write each claim as [[claim]], in double brackets")
        return []
    if not tables and len(faults) == before:
        faults.append(f"{path}: holds no [[claim]] table; id and formal suffice for one")
    if len(tables) > MAX_CLAIMS:
        faults.append(f"{path}: {len(tables)} claims; at most {MAX_CLAIMS} are read: split it")
        return []
    return _read(path, [Marked(table, places, index) for index, table in enumerate(tables)], faults, taken)


def _marked(path: Path, faults: list[str], taken: dict[str, str]) -> list[ClaimSpec]:
    """The claims of a text in which they are marked."""
    own: list[str] = []
    try:
        found = read_marked(path, own)
    except RefusedError as error:
        faults += error.lines
        return []
    faults += own
    return _read(str(path), found, faults, taken)


def _read(path: str, tables: Sequence[Marked], faults: list[str], taken: dict[str, str]) -> list[ClaimSpec]:
    found: list[ClaimSpec] = []
    for entry in tables:
        claim = read_claim(entry.table, path, entry.places, entry.index, faults)
        if claim is not None:
            found.append(claim)
        claim_id = entry.table.get("id")
        if isinstance(claim_id, str):
            place = f"{path}:{entry.places.line(entry.index, None, 'id') or '?'}"
            if claim_id in taken:
                faults.append(f"{place}: {short(claim_id)}: this id is taken ({taken[claim_id]}); rename one")
            taken.setdefault(claim_id, place)
    return found


def _linked(claims: Sequence[ClaimSpec]) -> tuple[list[ClaimSpec], list[str]]:
    """Link claims to their corrections: ``ID.corrected`` corrects ``ID``, said or not."""
    ids = {claim.id for claim in claims}
    linked: list[ClaimSpec] = []
    faults: list[str] = []
    for claim in claims:
        natural = f"{claim.id}.corrected"
        if natural in ids:
            linked.append(replace(claim, correction=natural))
            continue
        linked.append(claim)
        if claim.correction is not None:
            rule = "write it as a claim of its own"
            faults.append(f"{claim.file}: {claim.id}: no claim {natural!r} here; {rule}")
    faults += _unfounded({claim.id: claim for claim in claims})
    return linked, faults


def _unfounded(claims: Mapping[str, ClaimSpec]) -> list[str]:
    """The claims that use one that is not there, or that rest on themselves through others."""
    faults: list[str] = []
    for claim in claims.values():
        faults += [
            f"{claim.file}: {claim.id}: uses {short(name)}, but no such claim is here"
            for name in claim.uses
            if name not in claims
        ]
        seen, waiting = set[str](), list(claim.uses)
        while waiting:
            name = waiting.pop()
            if name not in seen and name in claims:
                seen.add(name)
                waiting += claims[name].uses
        if claim.id in seen:
            faults.append(f"{claim.file}: {claim.id}: rests on itself through what it uses")
    return faults
