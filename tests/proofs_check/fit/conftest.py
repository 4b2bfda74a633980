"""Documents of fits, and what ``gateproof verify`` finds in one."""

from __future__ import annotations

import json

import pytest

from gateproof.proofs_check import fit_check


@pytest.fixture(scope="module")
def documents(request):
    """The documents of the module's ``FITS``, by name."""
    return {name: make().to_json() for name, make in request.module.FITS.items()}


@pytest.fixture
def checked(tmp_path):
    """The summary of the checks of a document."""

    def run(document):
        path = tmp_path / "fit.json"
        path.write_text(json.dumps(document))
        return fit_check.summed(fit_check.checks(str(path)))

    return run
