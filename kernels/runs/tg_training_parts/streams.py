"""Random numbers by name. PyTorch's CPU generator takes the lowest 32 bits of its seed and no others."""

from __future__ import annotations

from hashlib import sha256

import torch


def stream(*name: str | int) -> torch.Generator:
    """A generator of its own for a name, such as ("order", seed, epoch)."""
    digest = sha256("/".join(map(str, name)).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:4], "big"))
