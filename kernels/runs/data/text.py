"""Text for language models: corpora on this machine, a byte-pair vocabulary trained here, token ids.

Corpora: ``topics`` (Python's own help topics, always there), ``kjv`` and ``jargon`` (public domain, of
Debian's bible-kjv-text and jargon-text), ``folder`` (all ``*.txt`` of ``$GATEPROOF_DATA/text``). Texts are
cut at line ends into pieces of about PIECE characters; every EVERY-th goes to validation, so both shards are
alike and disjoint. The vocabulary is byte-level byte pairs (Sennrich 2016) trained on the training shard
alone. Token ids are kept in ``$XDG_CACHE_HOME/gateproof/text`` under the hash of all that they depend on.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from gateproof.kernels.runs.data.packed_bible import verses
from gateproof.numerics import atomic

Ids = npt.NDArray[np.uint16]

PIECE, EVERY = 4096, 16
_FORMAT = 1
_MOST = 1 << 16
_WHERE = {
    "kjv": ("bible.data", "/usr/lib/bible.data", "bible-kjv-text"),
    "jargon": ("jargon.txt.gz", "/usr/share/doc/jargon-text/jargon.txt.gz", "jargon-text"),
}
CORPORA = ("topics", *_WHERE, "folder")


@dataclass(frozen=True, eq=False)
class Tokens:
    """Token ids of both shards, 16 bits each (mapped from the cache), all below ``vocabulary``.

    ``used`` is the size that the trained vocabulary reached: a short text has fewer pairs to merge.
    """

    train: Ids
    validation: Ids
    vocabulary: int
    used: int
    sha256: str

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Both shards as one-dimensional int64 tensors."""
        return tuple(torch.from_numpy(shard.astype(np.int64)) for shard in (self.train, self.validation))  # type: ignore[return-value]


def needs(corpora: Sequence[str]) -> None:
    """Raise ValueError with one line if a corpus or the library that makes the vocabulary is missing."""
    for name in corpora:
        if name not in CORPORA:
            raise ValueError(f"corpus {name!r}: give {', '.join(CORPORA)}")
        if name != "topics":
            _files(name)
    try:
        metadata.version("tokenizers")
    except metadata.PackageNotFoundError:
        raise ValueError("the library tokenizers is missing: pip install tokenizers") from None


def hashes(corpora: Sequence[str]) -> dict[str, str]:
    """The sha256 of each corpus, as text in UTF-8."""
    return {f"text {name}": _hash(name) for name in corpora}


def windows(ids: Ids, starts: torch.Tensor, length: int) -> torch.Tensor:
    """The ids from each start on, int64 of shape (starts, length)."""
    found = np.stack([ids[a : a + length] for a in starts.tolist()])
    return torch.from_numpy(found.astype(np.int64))


@cache
def tokens(corpora: tuple[str, ...], vocabulary: int) -> Tokens:
    """Token ids of the corpora in a row, with a vocabulary of at most so many byte pairs (256 to 65,536)."""
    if not 256 <= vocabulary <= _MOST:
        raise ValueError(f"vocabulary = {vocabulary}: give 256 to {_MOST}")
    needs(corpora)
    asked = {
        "format": _FORMAT,
        "corpora": hashes(corpora),
        "vocabulary": vocabulary,
        "pieces": [PIECE, EVERY],
        "tokenizers": metadata.version("tokenizers"),
    }
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    folder = _cache_folder()
    found = None if folder is None else _kept(folder, key, vocabulary)
    if found is not None:
        return found
    made = _made(corpora, vocabulary)
    if folder is not None and _keep(folder, key, made):
        # Mapped from the disk rather than held twice.
        return _kept(folder, key, vocabulary) or made
    return made


def _made(corpora: tuple[str, ...], vocabulary: int) -> Tokens:
    # Read once by its Rust part, when a tokenizer first works on a batch.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    training: list[str] = []
    validation: list[str] = []
    for k, piece in enumerate(_pieces(corpora)):
        (validation if k % EVERY == EVERY - 1 else training).append(piece)
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer: Any = trainers.BpeTrainer(
        vocab_size=vocabulary,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(training, trainer)
    shards = [
        np.concatenate([np.asarray(one.ids, dtype=np.uint16) for one in tokenizer.encode_batch_fast(shard)])
        if shard
        else np.zeros(0, np.uint16)
        for shard in (training, validation)
    ]
    return Tokens(shards[0], shards[1], vocabulary, tokenizer.get_vocab_size(), _shards_hash(*shards))


def _pieces(corpora: Sequence[str]) -> Iterator[str]:
    for name in corpora:
        for text in _texts(name):
            start = 0
            while start < len(text):
                end = text.find("\n", start + PIECE) + 1 or len(text)
                yield text[start:end]
                start = end


def _texts(name: str) -> Iterator[str]:
    if name == "topics":
        from pydoc_data.topics import topics

        yield "\n\n".join(topics[key] for key in sorted(topics))
        return
    for path in _files(name):
        data = path.read_bytes()
        try:
            if name == "kjv":
                yield verses(data)
            else:
                yield (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"corpus {name}: {path}: {error}") from None


def _files(name: str) -> list[Path]:
    given = os.environ.get("GATEPROOF_DATA", "")
    if name == "folder":
        found = sorted((Path(given) / "text").glob("*.txt")) if given else []
        if not found:
            raise ValueError("corpus folder: set GATEPROOF_DATA=DIR and put text files into DIR/text/*.txt")
        return found
    inside, usual, package = _WHERE[name]
    for path in ([Path(given) / inside] if given else []) + [Path(usual)]:
        if path.is_file():
            return [path]
    raise ValueError(
        f"corpus {name}: {usual} is missing: apt-get install {package}, "
        f"or set GATEPROOF_DATA=DIR with DIR/{inside}"
    )


@cache
def _hash(name: str) -> str:
    found = hashlib.sha256()
    for text in _texts(name):
        found.update(text.encode())
    return found.hexdigest()


def _shards_hash(train: Ids, validation: Ids) -> str:
    found = hashlib.sha256(train.tobytes())
    found.update(b"/")
    found.update(validation.tobytes())
    return found.hexdigest()


def _cache_folder() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        home = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
        folder = home / "gateproof" / "text"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder


def _kept(folder: Path, key: str, vocabulary: int) -> Tokens | None:
    """What the cache holds under a key; None if it is not there whole."""
    try:
        about = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        train, validation = (
            np.load(folder / f"{key}.{shard}.npy", mmap_mode="r") for shard in ("train", "validation")
        )
        found = Tokens(train, validation, vocabulary, int(about["used"]), str(about["sha256"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if _shards_hash(train, validation) == found.sha256 else None


def _keep(folder: Path, key: str, made: Tokens) -> bool:
    try:
        for shard in ("train", "validation"):
            data = io.BytesIO()
            np.save(data, getattr(made, shard))
            atomic.write_bytes(folder / f"{key}.{shard}.npy", data.getvalue())
        about = {"used": made.used, "sha256": made.sha256}
        atomic.write_text(folder / f"{key}.json", json.dumps(about))
    except OSError:
        return False
    return True
