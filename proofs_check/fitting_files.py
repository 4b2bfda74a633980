"""What ``gateproof fit`` writes: certificates, exports and pictures, each whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check import certificate_file
from gateproof.proofs_check.refused import RefusedError

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Fit
    from gateproof.theory.differential_pair import Pair


def certificate_of(found: Fit) -> dict[str, Any] | None:
    """The certificate of the error, with those of the lower bound and of the worst case."""
    from gateproof.numerics.certificate import composite_document
    from gateproof.numerics.fits.result_json import best, up

    error, worst = found.error, (found.tolerant or {}).get("certificate")
    if error.certificate is None or error.hi is None:
        return None
    parts, said = [dict(error.certificate)], [f"the gate is off by at most {up(error.hi, 10)}"]
    if found.lower_certificate is not None and found.lower_bound is not None:
        parts.append(dict(found.lower_certificate))
        said.append(best(found).removesuffix(" (proved)"))
    if worst is not None:
        parts.append(dict(worst))
        said.append("gates within the tolerances are off by at most the bound")
    if len(parts) == 1:
        return parts[0]
    return composite_document(parts, "; ".join(f"part {k}: {text}" for k, text in enumerate(said, 1)))


def write_certificate(path: str, found: Fit) -> str:
    """Write it; where there is none, say why and what became of the file. Raises RefusedError."""
    certificate = certificate_of(found)
    if certificate is None:
        how = {"proved": "it is proved by algebra", "sampled": "the error is sampled"}
        why = how.get(found.error.evidence, "none was found")
        return f"there is no certificate: {why}, so {path} {certificate_file.fate(path)}"
    certificate_file.write(path, certificate)
    return ""


def refuse_early(paths: Sequence[str], option: str) -> None:
    """Raise RefusedError, before any work, for files that cannot be written: of an unknown suffix, say."""
    from gateproof.numerics.fits import picture
    from gateproof.numerics.fits.exports.write import refuse_path

    for path in paths:
        try:
            if option == "--export":
                refuse_path(path)
                continue
            refuse_place(path, option)
            picture.suffix_of(Path(path).name)
            picture.refuse_early()
        except RefusedError:
            raise
        except ValueError as error:
            raise RefusedError(f"{option} {error}") from None
        except OSError as error:
            raise _unwritable(path, option, error) from None


def refuse_place(path: str, option: str) -> None:
    """Raise RefusedError for a file whose folder is missing, for a folder, and for what is no path."""
    place = Path(path)
    try:
        missing, folder = not place.absolute().parent.is_dir(), place.is_dir()
    except (OSError, ValueError) as error:
        raise _unwritable(path, option, error) from None
    if missing:
        raise RefusedError(f"{option} {path}: there is no such folder")
    if folder:
        raise RefusedError(f"{option} {path}: is a folder; give a file")


def _unwritable(path: str, option: str, error: OSError | ValueError) -> RefusedError:
    why = error.strerror if isinstance(error, OSError) else error
    return RefusedError(f"{option} {path}: cannot be written: {why}")


def refuse_twice(certificates: Sequence[str], exports: Sequence[str], plots: Sequence[str]) -> None:
    """Raise RefusedError where two outputs are one file: the second would replace the first."""
    options = (("--certificate", certificates), ("--export", exports), ("--plot", plots))
    taken: dict[str, str] = {}
    for option, path in ((option, path) for option, paths in options for path in paths):
        place = realpath(path)
        if place in taken:
            both = f"{taken[place]} and {option}" if taken[place] != option else f"{option}, twice"
            raise RefusedError(f"{path}: is named by {both}; give each output a file of its own")
        taken[place] = option


def pair_of(given: Sequence[str], exports: Sequence[str]) -> Pair | None:
    """The differential pair of the hardware tables, if one is given.

    Raises RefusedError, also where no table is to be written.
    """
    from gateproof.numerics.fits.exports import RefusedExport, export_of, read_pair

    if not given:
        return None
    try:
        pair = read_pair(given, "--hardware")
    except RefusedExport as error:
        raise RefusedError(str(error)) from None
    if not any(export_of(Path(path).name).for_hardware for path in exports):
        raise RefusedError("--hardware is for a hardware table: add --export FILE.csv, .md or .hardware.json")
    return pair


def write_all(found: Fit, exports: Sequence[str], plots: Sequence[str], pair: Pair | None = None) -> None:
    """Write exports and pictures. Raises RefusedError; what was written before stays."""
    from gateproof.numerics.fits.exports import render
    from gateproof.numerics.fits.picture import render as draw

    jobs: list[tuple[str, str, Callable[[Fit, str], bytes]]] = [
        *((path, "--export", partial(render, hardware=pair)) for path in exports),
        *((path, "--plot", draw) for path in plots),
    ]
    for path, option, make in jobs:
        try:
            data = make(found, Path(path).name)
        except ValueError as error:
            raise RefusedError(f"{option} {path}: {error}") from None
        write(path, data, option)


def write(path: str, data: bytes, option: str) -> None:
    """Write a file. Raises RefusedError."""
    from gateproof.numerics.atomic import write_bytes

    try:
        write_bytes(Path(path), data)
    except OSError as error:
        raise _unwritable(path, option, error) from None
