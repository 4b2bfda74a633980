"""Images: shapes, classes and published means; what is missing or damaged is refused in one line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import torch

from gateproof.kernels.runs.data import images

DEBIAN = Path("/usr/share/datasets/fashion-mnist")


def test_digits_are_scikit_learns_with_every_fourth_in_the_test() -> None:
    from sklearn.datasets import load_digits

    found, theirs = images.load("digits"), load_digits()
    assert found.train.shape == (1348, 8, 8)
    assert found.test.shape == (449, 8, 8)
    assert found.train.dtype == torch.float32
    assert found.train_labels.dtype == torch.int64
    assert torch.equal(found.test[1] * 16, torch.tensor(theirs.images[7], dtype=torch.float32))
    assert torch.equal(found.train[3] * 16, torch.tensor(theirs.images[4], dtype=torch.float32))
    assert found.test_labels[1] == theirs.target[7]
    assert found.train.min() == 0
    assert found.train.max() == 1
    assert images.load("digits").sha256 == found.sha256
    assert len(found.sha256) == 64


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="needs Debian's dataset-fashion-mnist")
def test_fashion_has_its_published_mean_and_classes() -> None:
    """0.2860 is the mean that it is normalised by everywhere; the first image is an ankle boot."""
    found = images.load("fashion-mnist")
    assert found.train.shape == (60000, 28, 28)
    assert found.test.shape == (10000, 28, 28)
    assert found.train_labels.bincount().tolist() == [6000] * 10
    assert found.train_labels[:2].tolist() == [9, 0]
    assert found.test_labels[0] == 9
    assert round(found.train.mean(dtype=torch.float64).item(), 4) == 0.2860


def test_what_is_missing_or_damaged_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are digits and fashion-mnist"):
        images.needed("mnist")
    folder = tmp_path / "fashion-mnist"
    folder.mkdir()
    monkeypatch.setenv("GATEPROOF_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="apt-get install dataset-fashion-mnist"):
        images.needed("fashion-mnist")
    for name in images._FILES:
        (folder / name).write_bytes(b"no gzip")
    images.needed("fashion-mnist")
    with pytest.raises(ValueError, match="train-images"):
        images.load("fashion-mnist")
    sizes = {
        "train-images": (2, 28, 28),
        "train-labels": (2,),
        "t10k-images": (1, 28, 28),
        "t10k-labels": (1,),
    }
    for name in images._FILES:
        shape = sizes[name.split("-idx")[0]]
        head = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
        data = bytes([7]) * torch.Size(shape).numel()
        (folder / name).write_bytes(gzip.compress(head + data))
    found = images.load("fashion-mnist")
    assert found.train.shape == (2, 28, 28)
    assert found.test_labels.tolist() == [7]
