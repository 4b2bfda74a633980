"""Real inputs: public-domain text and recorded speech from Debian packages, or files that you name.

GATEPROOF_TEXT names a text file (plain or .gz), GATEPROOF_SOUNDS a folder of .wav files.
"""

from __future__ import annotations

import gzip
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
from harness.network import Missing, library
from numpy.typing import NDArray

TEXT = "/usr/share/doc/jargon-text/jargon.txt.gz"
SOUNDS = "/usr/share/sounds/alsa"


@cache
def paragraphs() -> tuple[str, ...]:
    """Paragraphs of running text, each on one line: those of 80 characters or more that end a sentence."""
    path = Path(os.environ.get("GATEPROOF_TEXT", TEXT))
    if not path.is_file():
        raise Missing(
            f"no text at {path}: apt-get install jargon-text, or name a text file in GATEPROOF_TEXT"
        )
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    joined = (" ".join(block.split()) for block in re.split(r"\n\s*\n", raw.decode("utf-8")))
    found = tuple(p for p in joined if len(p) >= 80 and p[0].isalnum() and p[-1] in ".!?" and p.isascii())
    if not found:
        raise Missing(f"{path} holds no paragraph of running text")
    return found


def sentences(count: int) -> list[str]:
    """Sentences of 5 to 30 words, evenly spaced over the text."""
    parts = (s for p in paragraphs() for s in re.split(r"(?<=[.!?]) +(?=[A-Z])", p))
    all_ = [s for s in parts if 5 <= len(s.split()) <= 30 and s[0].isupper()]
    return all_[:: max(1, len(all_) // count)][:count]


def words(count: int) -> list[str]:
    """Words of small letters, each once, in the order of the text."""
    return list(dict.fromkeys(w for p in paragraphs() for w in re.findall(r"\b[a-z]{4,12}\b", p)))[:count]


@cache
def clips(rate: int) -> tuple[tuple[str, NDArray[np.float32]], ...]:
    """Name and samples in [-1, 1] of each .wav file, one channel, resampled to rate (Hz)."""
    folder = Path(os.environ.get("GATEPROOF_SOUNDS", SOUNDS))
    files = sorted(folder.glob("*.wav"))
    if not files:
        raise Missing(
            f"no .wav files in {folder}: apt-get install alsa-utils, or name a folder in GATEPROOF_SOUNDS"
        )
    wavfile, signal = library("scipy.io.wavfile"), library("scipy.signal")
    out = []
    for file in files:
        own, samples = wavfile.read(file)
        if samples.dtype != np.int16:
            raise Missing(f"{file}: samples are {samples.dtype}; 16-bit PCM is read")
        mono = samples.reshape(len(samples), -1).mean(axis=1) / 32768
        common = np.gcd(own, rate)
        out.append((file.stem, signal.resample_poly(mono, rate // common, own // common).astype(np.float32)))
    return tuple(out)
