"""The packaged claims, read once a process: reading them takes a second."""

from __future__ import annotations

from functools import cache

from gateproof.proofs_check.claims_file import load_packaged

packaged = cache(load_packaged)
