"""An export as a file, whole or not at all."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from gateproof.numerics.atomic import write_bytes
from gateproof.numerics.fits.exports.formats import RefusedExport
from gateproof.numerics.fits.exports.pair import Given
from gateproof.numerics.fits.exports.registry import export_of, render

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Fit

#: Modules that the exported code imports.
SHADOWING = ("torch.py", "numpy.py", "math.py")


def refuse_path(path: str | PathLike[str]) -> None:
    """Raise RefusedExport, in one line, for a file that no export can be written to, or not here."""
    place = Path(path)
    if not place.absolute().parent.is_dir():
        raise RefusedExport(f"{fspath(path)}: there is no such folder")
    if place.name.lower() in SHADOWING:
        raise RefusedExport(
            f"{fspath(path)}: beside your programs a file of that name is imported in place of {place.stem}; "
            f"give it another one, as gate_{place.name}"
        )
    if place.is_dir():
        raise RefusedExport(f"{fspath(path)}: is a folder; give a file")
    export_of(place.name).refuse_early()


def write(fit: Fit, path: str | PathLike[str], hardware: Given = None) -> None:
    """Write the export that the end of the name asks for. Raises RefusedExport, and OSError of the disk."""
    refuse_path(path)
    write_bytes(Path(path), render(fit, Path(path).name, hardware=hardware))
