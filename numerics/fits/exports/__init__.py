"""What a fit is exported to: ``render(fit, "gate.onnx")`` gives the bytes, by the end of the name.

One file a format; :mod:`~gateproof.numerics.fits.exports.registry` lists them. All text is made of exact
numbers rounded once; what a user wrote stands in comments only, on one line of printable ASCII.
"""

from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.formats import RefusedExport
from gateproof.numerics.fits.exports.pair import read_pair
from gateproof.numerics.fits.exports.registry import EXPORTS, SUFFIXES, Export, about_of, export_of, render

__all__ = [
    "EXPORTS",
    "SUFFIXES",
    "About",
    "Export",
    "RefusedExport",
    "about_of",
    "export_of",
    "read_pair",
    "render",
]
