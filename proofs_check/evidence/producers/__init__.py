"""What makes evidence, a file each, found by the name of the record with ``.`` and ``-`` as ``_``.

A file has ``produce(kept, say) -> Findings`` for a record and ``INPUTS``, the files of the package
that its numbers depend on; or ``make(path, say) -> str | None`` for a certificate, which returns
why there is none. Installed packages register such modules as entry points ``gateproof.evidence``.
"""
