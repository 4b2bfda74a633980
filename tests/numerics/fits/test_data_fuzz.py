"""Whatever stands in a file, a domain or a target: a target, or one line."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.fits.measure import measure_of
from gateproof.numerics.fits.target import RefusedTarget, Target
from gateproof.numerics.fits.target_any import target_of

NUMBERS = ["0", "1", "-2.5", "1e3", "1e400", "nan", "", "inf", "1d2", "'1'", "+", "."]
STRANGE = ["-", "x", "1,5", "1 2", "0x10", "1_0", "1e", "\x00", "\u0663", "1j", "=1+1", "\ufeff1", "\u22121"]
CELL = st.sampled_from([*NUMBERS, *NUMBERS, *STRANGE])
MARK = st.sampled_from([",", ";", "\t", " ", ", "])
ROW = st.builds(lambda cells, mark: mark.join(cells), st.lists(CELL, max_size=4), MARK)
NORMAL, DEEP = settings(max_examples=40, deadline=None), settings(max_examples=5000, deadline=None)


def one_line(message: str) -> None:
    assert "\n" not in message
    assert 5 < len(message) < 400


def look(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        for made in (lambda: target_of(path), lambda: measure_of(target_of("tanh"), histogram=path)):
            try:
                found = made()
            except RefusedTarget as error:
                one_line(str(error).replace(str(path), ""))
            else:
                x = (
                    found.points.x
                    if isinstance(found, Target)
                    else found.x
                    if found.x is not None
                    else np.ones(2)
                )
                assert np.isfinite(x).all()


def text_case(rows, ends):
    look(ends.join(rows).encode("utf-8", "surrogatepass"), "c.csv")


def bytes_case(data, name):
    look(data, name)


def npy_case(data, shape, fortran):
    header = f"{{'descr': {data!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}".encode()
    look(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + os.urandom(64), "c.npy")


ROWS = given(st.lists(ROW, max_size=9), st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
BYTES = given(st.binary(max_size=200), st.sampled_from(["c.csv", "c.npy", "c.txt"]))
HEADERS = given(
    st.sampled_from(["<f8", "<f4", "|O", "<c16", "<U3", "|b1", "<i8", ">f2", "nonsense", "<M8[s]"]),
    st.sampled_from([(8,), (4, 2), (2, 4), (), (0,), (10**12,), (-1,), (2, 2, 2)]),
    st.booleans(),
)
test_rows_of_any_cells = NORMAL(ROWS(text_case))
test_any_bytes = NORMAL(BYTES(bytes_case))
test_any_header_of_an_array = NORMAL(HEADERS(npy_case))
test_rows_of_any_cells_deep = pytest.mark.deep(DEEP(ROWS(text_case)))
test_any_bytes_deep = pytest.mark.deep(DEEP(BYTES(bytes_case)))


WORDS = "x gelu ( ) + - * / ** 1 0 .5 , [ ] oo R tg tau= where > sup in : _ ' \\ e pi sin log sqrt 9"
PIECE = st.sampled_from([*WORDS.split(), " ", "\n"])


@given(st.lists(PIECE, max_size=8).map("".join), st.lists(PIECE, max_size=6).map("".join) | st.none())
@settings(max_examples=60, deadline=None)
def test_any_text(text, domain):
    try:
        found = target_of(text, domain)
    except RefusedTarget as error:
        one_line(str(error))
    else:
        assert np.isfinite(found.function(np.array([float(found.lo or found.hi or 1)]))).all()
