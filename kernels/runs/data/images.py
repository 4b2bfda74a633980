"""Images for classifiers: ``digits`` (8 x 8, of scikit-learn) and ``fashion-mnist`` (28 x 28, of Debian).

Both have ten classes. ``digits`` (1797 images, part of UCI's optical digits) has no split of its own: every
fourth image goes to the test, so that writers are in both parts. ``fashion-mnist`` (Xiao et al. 2017,
arXiv:1708.07747) has its 60,000 and 10,000. Other places: ``$GATEPROOF_DATA/fashion-mnist``.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

NAMES = ("digits", "fashion-mnist")
EVERY = 4
_DEBIAN = Path("/usr/share/datasets/fashion-mnist")
_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Images:
    """Grey images, float32 (n, height, width) in [0, 1], and their classes, int64 (n,) in 0..9.

    ``sha256`` is of the pixels and classes of both parts, as bytes in their order.
    """

    name: str
    train: torch.Tensor
    train_labels: torch.Tensor
    test: torch.Tensor
    test_labels: torch.Tensor
    sha256: str


def needed(name: str) -> None:
    """Raises ValueError with one line where the set is not known or not at hand; reads nothing."""
    if name not in NAMES:
        raise ValueError(f"images {name!r:.40}: there are {' and '.join(NAMES)}")
    if name == "digits":
        if find_spec("sklearn") is None:
            raise ValueError("the images digits come with scikit-learn: pip install scikit-learn")
        return
    missing = [f for f in _FILES if not (_folder() / f).is_file()]
    if missing:
        raise ValueError(
            f"the images fashion-mnist are missing ({_folder() / missing[0]}): apt-get install"
            " dataset-fashion-mnist, or put their four .gz files into $GATEPROOF_DATA/fashion-mnist"
        )


def load(name: str) -> Images:
    """A set by its name. Raises ValueError where it is missing or is not what its name says.

    The tensors are shared by all callers of a process and are not to be written to.
    """
    needed(name)
    return _load(name, _folder())


@cache
def _load(name: str, folder: Path) -> Images:
    parts = _digits() if name == "digits" else tuple(_idx(folder / f) for f in _FILES)
    _checked(name, parts)
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    top = 16.0 if name == "digits" else 255.0
    train, train_labels, test, test_labels = (torch.from_numpy(p.copy()) for p in parts)
    return Images(
        name, train / top, train_labels.long(), test / top, test_labels.long(), digest.hexdigest()
    )  # fmt: skip


def hashes(names: Iterable[str]) -> dict[str, str]:
    """The sets by name, with their sha256."""
    return {name: load(name).sha256 for name in sorted(set(names))}


def _folder() -> Path:
    place = os.environ.get("GATEPROOF_DATA")
    own = None if place is None else Path(place).expanduser() / "fashion-mnist"
    return own if own is not None and own.is_dir() else _DEBIAN


def _digits() -> tuple[_Bytes, ...]:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images, labels = bunch.images.astype(np.uint8), bunch.target.astype(np.uint8)
    last = np.arange(len(images)) % EVERY == EVERY - 1
    return images[~last], labels[~last], images[last], labels[last]


def _idx(file: Path) -> _Bytes:
    """An IDX file of unsigned bytes: two zeros, 8, the rank, big-endian sizes, the data."""
    try:
        raw = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{file}: {error}") from None
    rank = raw[3] if len(raw) > 3 else 0
    sizes = [int.from_bytes(raw[4 + 4 * k : 8 + 4 * k], "big") for k in range(rank)]
    start = 4 + 4 * rank
    if raw[:3] != b"\0\0\x08" or not sizes or len(raw) != start + int(np.prod(sizes)):
        raise ValueError(f"{file}: no IDX file of bytes")
    return np.frombuffer(raw, np.uint8, offset=start).reshape(sizes)


def _checked(name: str, parts: tuple[_Bytes, ...]) -> None:
    side = 8 if name == "digits" else 28
    for images, labels in (parts[:2], parts[2:]):
        if images.shape[1:] != (side, side) or labels.shape != images.shape[:1] or not len(labels):
            raise ValueError(
                f"the images {name}: {side} x {side} images with a class each are expected, found"
                f" {images.shape} and {labels.shape}"
            )
        if labels.max() > 9:
            raise ValueError(f"the images {name}: classes are 0 to 9, found {labels.max()}")
