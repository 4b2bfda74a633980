"""The independent checker of certificates: docs/certificates.md says what they are.

It imports the standard library and gmpy2 only, reads one JSON document, and searches nothing.
"""

from gateproof.proofs_check.checker.boxes import Verdict
from gateproof.proofs_check.checker.check import verify

__all__ = ["Verdict", "verify"]
