"""Chromium as the system has it, and a page that remembers what it said and what it asked for."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / ".venv/share/gateproof/node_modules/axe-core/axe.min.js"
#: What axe calls these keeps a reader out; the lesser ones are matters of style.
HEAVY = ("serious", "critical")


@contextmanager
def launched():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Without a sandbox, since CI mostly runs as root; only our own pages are opened.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    def __init__(self, browser, width=1300, scheme="light", script=True):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def heavy_faults(self):
        """What axe finds that keeps a reader out, as (rule, impact, where)."""
        if not AXE.is_file():
            pytest.skip("axe-core is not installed: npm was not reached when .venv was made")
        # The protocol evaluates axe past the page's own policy.
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate(
            "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map("
            "v => [v.id, v.impact, v.nodes.map(n => n.html.slice(0, 120))]))"
        )
        return [entry for entry in found if entry[1] in HEAVY]
