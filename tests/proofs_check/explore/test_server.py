"""The page's server: for this machine and this page only, with bounded work."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def served():
    command = [sys.executable, "-P", "-m", "gateproof", "explore", "x*tanh(softplus(x))"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    yield int(re.search(r"http://127\.0\.0\.1:(\d+)/", line)[1])
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0


def send(port, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    return response.status, response.headers, response.read().decode()


def question(port, task, **headers):
    body = task if isinstance(task, str) else json.dumps(task)
    return send(port, "POST", "/ask", body, **{"Content_Type": "application/json", **headers})


def test_the_page_and_its_files_come_with_a_policy(served):
    for path, kind in (("/", "text/html"), ("/explore.js", "text/javascript"), ("/explore.css", "text/css")):
        status, headers, text = send(served, "GET", path)
        assert status == 200
        assert headers["content-type"].startswith(kind)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "'unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "https:" not in text
    assert 'data-target="x*tanh(softplus(x))"' in send(served, "GET", "/")[2]


@pytest.mark.parametrize(
    "path", ["/server.py", "/../server.py", "/%2e%2e/cli/explore.py", "/explore.html.j2"]
)
def test_no_other_file_is_served(served, path):
    assert send(served, "GET", path)[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Host": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_another_name_or_another_page_is_refused(served, headers):
    status, sent, text = question(served, {"ask": "draw"}, **headers)
    assert status == 403
    assert "{" not in text
    assert "content-security-policy" in sent


@pytest.mark.parametrize(
    "hosts", [[], ["127.0.0.1:{port}", "evil.example"], ["evil.example", "127.0.0.1:{port}"]]
)
def test_no_name_or_two_names_are_refused(served, hosts):
    lines = [f"Host: {host.format(port=served)}" for host in hosts]
    request = "\r\n".join(["GET / HTTP/1.0", *lines, "", ""])
    with socket.create_connection(("127.0.0.1", served), 20) as connection:
        connection.sendall(request.encode())
        answer = connection.makefile("rb").read()
    assert int(answer.split()[1]) in (400, 403)
    assert b"data-target" not in answer


def test_this_page_is_answered_under_both_names_of_this_machine(served):
    gate = {"tau": [], "theta": [], "slope": ["1"], "intercept": ["0"]}
    for name in ("127.0.0.1", "localhost"):
        where = f"{name}:{served}"
        status, _, text = question(
            served, {"ask": "draw", "target": "x", "gate": gate}, Host=where, Origin=f"http://{where}"
        )
        assert status == 200
        assert json.loads(text)["worst"]["error"] == 0


def test_only_json_objects_of_a_bounded_size_are_questions(served):
    assert question(served, {"ask": "draw"}, Content_Type="text/plain")[0] == 415
    assert question(served, "{")[0] == 400
    assert question(served, "[1]")[0] == 400
    assert question(served, "[" * 9_000)[0] == 400
    assert question(served, '{"ask": "' + "x" * 30_000 + '"}')[0] == 400
    assert send(served, "GET", "/ask")[0] == 404
    assert "refused" in question(served, {"ask": "draw", "target": "1/0*x*"})[2]


def test_it_listens_on_the_loopback_address_only(served):
    table = Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows = [line.split()[1] for line in table if line.split()[3] == "0A"]
    mine = [row for row in rows if int(row.split(":")[1], 16) == served]
    assert mine == [f"0100007F:{served:04X}"]


def test_work_beyond_its_time_is_ended_and_the_next_question_answered(monkeypatch):
    from gateproof.proofs_check.explore import desk

    monkeypatch.setattr(desk, "SLOW", 1.5)
    at = desk.Desk(slow=1)
    try:
        task = {"ask": "fit", "target": "x*tanh(softplus(3*sin(x)+x))", "k": 8, "sharpness": "free"}
        assert "stopped after 1.5 s" in at.ask(task)["refused"]
        assert at.ask({"ask": "fit", "target": "", "k": 2})["refused"].startswith("the target is empty")
    finally:
        at.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "nosuch"),
        (["--port", "80"], "from 1024 to 65535"),
        (["--port", "x"], "from 1024 to 65535"),
    ],
)
def test_bad_input_ends_with_one_line(words, said):
    command = [sys.executable, "-P", "-m", "gateproof", "explore", *words]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 2
    assert said in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_ctrl_c_waits_for_no_question_that_has_not_arrived():
    command = [sys.executable, "-P", "-m", "gateproof", "explore"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())[1])
        head = f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=20) as slow:
            slow.sendall(f"{head}Content-Length: 9\r\n\r\n{{".encode())
            assert send(port, "GET", "/")[0] == 200
            process.send_signal(signal.SIGINT)
            assert process.wait(15) == 0
        assert process.stderr.read() == ""
