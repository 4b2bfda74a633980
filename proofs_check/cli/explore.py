"""``gateproof explore``: serve the page until Ctrl-C."""

from __future__ import annotations

import argparse
import socket
from contextlib import closing, suppress

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text
from gateproof.proofs_check.refused import OK, RefusedError

HELP = "a local page: move a gate, watch error, certified bound, kappa and critical line"
DESCRIPTION = """\
Serves a page on this machine, and to this machine only, until Ctrl-C: pick or type an activation,
fit a threshold gate to it, move its sharpness and thresholds, copy it out as torch, Triton, C or JSON.
"""
PORTS = (1024, 65535)


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument(
        "target",
        nargs="?",
        type=text,
        default="gelu",
        metavar="TARGET",
        help="a name or a formula in x (gelu)",
    )
    parser.add_argument("--port", type=text, default="0", metavar="PORT", help="a free one by itself")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def run(options: argparse.Namespace) -> int:
    """Serve the page. Raises RefusedError for a bad target or port, and without Starlette and uvicorn."""
    from gateproof.proofs_check.explore.asked import target

    target(options.target)
    port = _port(options.port)
    try:
        import uvicorn

        from gateproof.proofs_check.explore.server import HOST, application
    except ImportError as error:
        raise RefusedError(f"explore needs {error.name}: pip install 'gateproof[explore]'") from None
    from gateproof.proofs_check.explore.desk import Desk

    with closing(_listening(HOST, port)) as listening, closing(Desk()) as desk:
        port = listening.getsockname()[1]
        address = f"http://{HOST}:{port}/"
        output.put(f"gateproof explore: {address} (Ctrl-C ends it)\n")
        if options.open:
            import webbrowser

            webbrowser.open(address)
        served = application(port, options.target, desk)
        # What a browser sends is no news; Ctrl-C waits for no answer that is still worked out.
        config = uvicorn.Config(
            served,
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        # uvicorn closes its connections and raises Ctrl-C again.
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    return OK


def _port(given: str) -> int:
    if not (given.isascii() and given.isdigit()) or (
        given != "0" and not PORTS[0] <= int(given[:6]) <= PORTS[1]
    ):
        raise RefusedError(
            f"--port {given!r:.20}: give a port from {PORTS[0]} to {PORTS[1]}, or none for a free one"
        )
    return int(given)


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise RefusedError(f"--port {port}: {error.strerror}; give another one, or none") from None
