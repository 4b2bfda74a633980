"""Measured curves: what is read, what is done to the rows, and one line for what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from gateproof.numerics.fits import data_curve, data_read
from gateproof.numerics.fits.target import RefusedTarget
from gateproof.numerics.fits.target_any import target_of

ROWS = "0,0\n1,2\n2,3\n3,5\n4,4\n"
X, Y = [0, 1, 2, 3, 4], [0, 2, 3, 5, 4]


def of(tmp_path, text, name="curve.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return target_of(path)


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        ROWS.replace(",", ";"),
        ROWS.replace(",", "\t"),
        ROWS.replace(",", "   "),
        ROWS.replace(",", ", "),
        ROWS.replace("\n", "\r\n"),
        "x,y\n" + ROWS,
        "Voltage (V), current\n" + ROWS,
        '"x","y"\n"0","0"\n"1","2"\n"2","3"\n"3","5"\n"4","4"\n',
        "y,x\n0,0\n2,1\n3,2\n5,3\n4,4\n",
        "x,y,temperature,run\n0,0,20,1\n1,2,20,1\n2,3,21,1\n3,5,20,1\n4,4,20,1\n",
        "# made by an oscilloscope\n% 2024\n\n" + ROWS,
        "0,0 # origin\n1,2\n2,3\n3,5\n4,4",
        "4,4\n0,0\n2,3\n1,2\n3,5\n",
        "0.,0e0\n+1,2.0\n2,30e-1\n3,.5e1\n4,4\n",
        "0,0,\n1,2,\n2,3,\n3,5,\n4,4,\n",
    ],
)
def test_ways_to_write_one_curve(tmp_path, text):
    target = of(tmp_path, text)
    assert target.points.x.tolist() == X
    assert target.points.y.tolist() == Y
    assert target.points.se is None
    assert (target.lo, target.hi, target.kind) == (0, 4, "data")
    assert target.expr is None
    assert target.function(np.array([0.5, 2.0])).tolist() == [1.0, 3.0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(tmp_path, encoding):
    assert of(tmp_path, "x,y\n" + ROWS, encoding=encoding).points.y.tolist() == Y


@pytest.mark.parametrize("array", [np.array([X, Y]), np.array([X, Y]).T, np.array([X, Y], dtype=np.float16)])
def test_arrays_and_npy(tmp_path, array):
    path = tmp_path / "curve.npy"
    np.save(path, array)
    for target in (target_of(str(path)), target_of(array), target_of(array.tolist())):
        assert target.points.x.tolist() == X
        assert target.points.y.tolist() == Y


def test_named_fields_of_an_npy(tmp_path):
    rows = np.array([(y, x) for x, y in zip(X, Y, strict=True)], dtype=[("y", "f4"), ("x", "i4")])
    np.save(tmp_path / "c.npy", rows)
    assert target_of(tmp_path / "c.npy").points.y.tolist() == Y


def test_rows_without_a_value_are_left_out_and_counted(tmp_path):
    target = of(tmp_path, ROWS + "5,nan\n6,\n,7\nNA,1\n7,8\n")
    assert target.points.x.tolist() == [*X, 7]
    assert target.notes == ("4 of 10 rows have a missing value and are left out",)


def test_equal_x_are_averaged_by_weight(tmp_path):
    # Weights 1/se^2 are 1 and 4: the mean of 1 and 2 is 9/5, its standard error 1/sqrt(5).
    target = of(tmp_path, "x,y,se\n0,1,1\n0,2,0.5\n1,1,1\n2,1,2\n3,1,1\n")
    assert target.points.x.tolist() == [0, 1, 2, 3]
    assert target.points.y[0] == pytest.approx(1.8, abs=1e-15)
    assert target.points.se.tolist() == pytest.approx([5**-0.5, 1, 2, 1], abs=1e-15)
    assert "1 x stand on several rows" in target.notes[0]
    plain = of(tmp_path, "0,1\n0,2\n1,1\n2,1\n3,1\n")
    assert plain.points.y[0] == 1.5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0,5;1,2\n1,5;2,2\n2,5;3,3\n3,5;3,3\n", "line 1, column 1: 0,5 has a decimal comma"),
        ("x;y\n0,5;1,2\n1,5;2,2\n2,5;3,3\n3,5;3,3\n", "line 2, column 1: 0,5 has a decimal comma"),
        ("0,5 1,2\n1,5 2,2\n2,5 3,3\n3,5 3,3\n", "two numbers"),
        ("0,0\n1,1+2j\n2,3\n3,4\n", "line 2, column 2: '1+2j' is complex"),
        ("0,0\n1,two\n2,3\n3,4\n", "line 2, column 2: 'two' is not a number"),
        ("0,0\n1,2\n2,3\n", "3 different points; 4 or more"),
        ("1,0\n1,2\n1,3\n1,4\n1,5\n", "1 different points"),
        ("0,0\n1\n2,3\n3,4\n", "line 2 has 1 columns and not 2"),
        ("0,0\n1,2,3\n2,3\n3,4\n", "line 2 has 3 columns and not 2; are there decimal commas"),
        ("0,0\n1,inf\n2,3\n3,4\n", "line 2: an infinite y"),
        ("x,y\n0,0\n1,1e999\n2,3\n3,4\n", "line 3: an infinite y"),
        ("x,y,se\n0,0,1\n1,1,0\n2,3,1\n3,4,1\n", "line 3: standard error 0"),
        ("x,y,weight\n0,0,1\n1,1,1\n2,3,1\n3,4,1\n", "which are 1/sqrt(weight)"),
        ("0\n1\n2\n3\n4\n", "one column; two or three"),
        ("0,0,0,0\n1,1,1,1\n2,2,2,2\n3,3,3,3\n", "4 columns; two or three"),
        ("", "is empty"),
        ("# nothing\n", "holds comments only"),
        ("x,y\n", "holds a header only"),
        ("0,0\n1,2\n2;3\n3,4\n4,4\n5,5\n", "line 3 has 1 columns and not 2; separate"),
        ("__import__('os'),0\n1,2\n2,3\n3,4\n4,5\n", "is not a number"),
        ("\x89PNG,1\n1,2\n2,3\n3,x\n", "PNG' is not a number"),
    ],
)
def test_one_line_says_what_is_wrong(tmp_path, text, line):
    with pytest.raises(RefusedTarget) as caught:
        of(tmp_path, text)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "curve.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("array", "line"),
    [
        (np.ones((5, 2), dtype=complex), "complex"),
        (np.array([["a", "b"]] * 5), "type <U1"),
        (np.ones(9), "one column"),
        (np.ones((5, 5, 2)), "shape (5, 5, 2)"),
        (np.array([{}, {}]), "Python objects"),
        (np.ones((2, 9), dtype=bool), "type bool"),
    ],
)
def test_arrays_that_are_no_curve(tmp_path, array, line):
    np.save(tmp_path / "c.npy", array, allow_pickle=True)
    with pytest.raises(RefusedTarget, match=r"c\.npy") as caught:
        target_of(tmp_path / "c.npy")
    assert line in str(caught.value)


def test_files_that_are_none(tmp_path):
    (tmp_path / "c.npy").write_bytes(b"\x93NUMPY broken")
    (tmp_path / "d.csv").mkdir()
    (tmp_path / "e.csv").write_bytes(bytes(range(128, 256)))
    lines = {
        "c.npy": "no NPY file",
        "d.csv": "directory",
        "e.csv": "no text in UTF-8",
        "f.csv": "no such file",
        "g.npz": "save one array",
        "h.xlsx": "write it as CSV",
    }
    for name, line in lines.items():
        with pytest.raises(RefusedTarget, match=line):
            target_of(str(tmp_path / name))


def test_sizes_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(data_read, "BYTES", 100)
    with pytest.raises(RefusedTarget, match="MB"):
        of(tmp_path, ROWS * 10)
    monkeypatch.undo()
    monkeypatch.setattr(data_read, "ROWS", 4)
    with pytest.raises(RefusedTarget, match="more than 4 rows"):
        of(tmp_path, ROWS)
    monkeypatch.undo()
    monkeypatch.setattr(data_curve, "MOST", 4)
    with pytest.raises(RefusedTarget, match="5 different x, at most 4"):
        of(tmp_path, ROWS)


def test_a_domain_keeps_the_points_in_it(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(ROWS)
    target = target_of(path, (1, 4))
    assert target.points.x.tolist() == X[1:]
    assert target.notes == ("1 of 5 points lie outside of the domain",)
    with pytest.raises(
        RefusedTarget, match="2 points in the domain, 4 or more are needed; all lie from 0 to 4"
    ):
        target_of(path, "[3, 9]")
