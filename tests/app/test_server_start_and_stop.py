"""Real servers: start, refusals of their sockets, stop."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.run_cli import cli, start
from forking.child import Child
from people.worlds import Office, office
from worksample.app import AppConfig, create_app
from worksample.app.judging.answers_since_start import AnswerCounter
from worksample.app.judging.personal_review import REASON, open_review
from worksample.app.server.http_server import listen, open_browser, serve_in_thread
from worksample.errors import PlanError, UsageError
from worksample.people import People, RoundKind, amend, set_state
from worksample.records import AmendmentAction, AmendmentTarget, ResolutionRule, Round

PATIENCE = 120
"""Seconds until something that has to happen is taken for missing."""


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=2, projects=2)


@contextmanager
def running(verb: str, folder: Path, *options: str) -> Iterator[tuple[Child, dict[str, Any]]]:
    """A server as a process, with what it printed."""
    process = start(verb, "--store", folder / "s", "--json", *options)
    try:
        yield process, json.loads(process.printing(lambda said: said.rstrip().endswith("}")))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def talk(port: int, sent: bytes) -> bytes:
    """All that comes back until the other side closes, which it has to."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
        line.sendall(sent)
        parts = []
        with suppress(ConnectionResetError):
            while part := line.recv(65536):
                parts.append(part)
        return b"".join(parts)


def test_review_by_one_person_works(desk: Office, tmp_path: Path) -> None:
    desk.store.close()
    with running("review", tmp_path, "--port", "0", "--name", "Me") as (process, said):
        assert said["left"] == 4 and said["experiment"] == "x1"
        url = httpx.URL(said["url"])
        link, token = said["link"].split("#")
        assert link == f"{said['url']}link?round={said['round']}" and len(token) == 43
        headers = {"Host": f"ws.localhost:{url.port}", "Origin": str(url).rstrip("/")}
        with httpx.Client(base_url=f"http://127.0.0.1:{url.port}", headers=headers, timeout=PATIENCE) as client:
            assert client.get("/link").status_code in (200, 503)
            entered = client.post("/api/v1/session/link", json={"token": token, "bearer": True}).json()
            assert entered["account"]["roles"] == ["admin", "evaluator", "expert", "reviewer", "worker"]
            assert client.post("/api/v1/session/link", json={"token": token}).status_code == 403, "works once"
            held = {"Authorization": f"Bearer {entered['token']}"}
            item = client.post("/api/v1/claims", json={}, headers=held).json()
            assert item["round"] == said["round"] and item["shown"][0]["content"]
        begun = process.printed
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        out = out.removeprefix(begun)
        assert process.returncode == 0 and token not in out + err and not err, err
    with running("review", tmp_path, "--port", "0", "--name", "Me") as (_, again):
        assert again["round"] == said["round"] and again["left"] == 4


def test_new_team_gets_one_invitation(tmp_path: Path) -> None:
    refused = cli("serve", "--store", tmp_path / "s", "--port", "0")
    assert refused.returncode == 1 and f"{tmp_path / 's'}: there is no store here" in refused.stderr
    assert "so does worksample serve --create" in refused.stderr and not (tmp_path / "s").exists()
    with running("serve", tmp_path, "--port", "0", "--create") as (_, said):
        port = httpx.URL(said["url"]).port
        page, token = said["invitation"].split("#")
        assert page == f"{said['url']}invite"
        headers = {"Host": f"ws.localhost:{port}"}
        body = {"token": token, "name": "Root", "password": "a password of some words", "bearer": True}
        answer = httpx.post(
            f"http://127.0.0.1:{port}/api/v1/invitations/accept", json=body, headers=headers, timeout=PATIENCE
        )
        assert answer.json()["account"]["roles"] == ["admin"]
    with running("serve", tmp_path, "--port", "0", "--workers", "2") as (process, said):
        assert said["invitation"] is None
        port = httpx.URL(said["url"]).port
        assert port is not None
        # The socket is there before the workers: whoever comes early waits for them.
        asked = f"GET /api/v1/me HTTP/1.1\r\nHost: ws.localhost:{port}\r\nConnection: close\r\n\r\n"
        assert talk(port, asked.encode()).startswith(b"HTTP/1.1 401")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_second_interrupt_shows_no_traceback(tmp_path: Path) -> None:
    process = start("serve", "--store", tmp_path / "s", "--create", "--port", 0)
    process.printing(lambda said: "Ctrl-C" in said)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and not err, err
    assert "stopped: 0 answers handed in" in out


def test_stopped_server_says_what_was_done(desk: Office) -> None:
    me = open_review(desk.people, "Me")
    where, alone, everybody = (
        desk.store.name,
        AnswerCounter.begin(desk.store, me.account),
        AnswerCounter.begin(desk.store),
    )
    for skip in (False, True):
        item = desk.people.drafting.claim(me.account)
        assert item is not None
        if skip:
            desk.people.judging.skip(item.id, me.account, "seen before")
        else:
            desk.people.judging.submit(item.id, me.account, {"score": 1, "justification": "empty"}, "k")
    other = desk.people.accounts.create("other", ["evaluator"])
    item = desk.people.drafting.claim(other)
    assert item is not None
    given = desk.people.judging.submit(item.id, other, {"score": 1, "justification": "empty"}, "k")
    amend(
        desk.people.store,
        me.account,
        AmendmentAction.STRIKE,
        AmendmentTarget.EVALUATION,
        given.id,
        "by a test",
        clock=desk.people.clock,
    )
    assert (alone.answers, alone.skips, everybody.answers) == (1, 1, 2)
    desk.store.close()
    for verb, told in (
        (
            "review",
            ["0 answers given; 2 left", f"worksample review --experiment x --store {where}", "worksample metrics x"],
        ),
        ("serve", ["stopped: 0 answers handed in; worksample serve"]),
    ):
        process = start(verb, "--store", where, "--port", 0, *(["--no-open", "--name", "Me"] * (verb == "review")))
        process.printing(lambda said: "Ctrl-C" in said)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0 and not err
        for text in told:
            assert text in out, out


@pytest.mark.thorough(quick="app/test_app_postgres.py::test_two_servers_on_one_database_answer_alike")
def test_servers_over_one_store_share_sessions(desk: Office, tmp_path: Path) -> None:
    desk.hire("ann")
    token = People(desk.store).accounts.one_time_link("ann")
    desk.store.close()
    with running("serve", tmp_path, "--port", "0") as (_, one), running("serve", tmp_path, "--port", "0") as (_, two):
        ports = [httpx.URL(said["url"]).port for said in (one, two)]
        entered = httpx.post(
            f"http://127.0.0.1:{ports[0]}/api/v1/session/link", json={"token": token, "bearer": True},
            headers={"Host": f"ws.localhost:{ports[0]}"}, timeout=PATIENCE,
        ).json()  # fmt: skip
        me = httpx.get(
            f"http://127.0.0.1:{ports[1]}/api/v1/me",
            headers={"Host": f"ws.localhost:{ports[1]}", "Authorization": f"Bearer {entered['token']}"},
            timeout=PATIENCE,
        )
        assert me.json()["account"]["name"] == "ann"


def test_sockets_refuse_malformed_requests(desk: Office, tmp_path: Path) -> None:
    desk.store.close()
    with running("serve", tmp_path, "--port", "0") as (process, said):
        port = httpx.URL(said["url"]).port
        assert port is not None
        host = f"Host: ws.localhost:{port}\r\n".encode()
        plain = b"GET /api/v1/me HTTP/1.1\r\n"
        post = b"POST /api/v1/session HTTP/1.1\r\n"
        for sent, status in (
            (plain + host, 401), (plain + b"Host: evil.example\r\n", 421), (plain, 421), (plain + host * 2, 421),
            (f"GET http://ws.localhost:{port}/ HTTP/1.1\r\n".encode() + host, 400),
            (b"GET http://evil.example/ HTTP/1.1\r\n" + host, 400), (b"OPTIONS * HTTP/1.1\r\n" + host, 400),
            (plain + host + b"X: " + b"a" * 40_000 + b"\r\n", 400), (b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n", 400),
            (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n" + host, 200), (b"nonsense\r\n", 400),
            (b"GET /api/" + b"a" * 9_000 + b" HTTP/1.1\r\n" + host, 414),
            (post + b"Content-Type: application/json\r\nContent-Length: 9999999\r\n" + host, 413),
            (post + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n" + host, 400),
        ):  # fmt: skip
            heard = talk(port, sent + b"Connection: close\r\n\r\n" if status != 400 else sent + b"\r\n")
            if status == 200 and heard.startswith(b"HTTP/1.1 503"):
                continue  # the front end is not built here
            assert heard.startswith(f"HTTP/1.1 {status} ".encode()), (sent[:80], heard[:200])
            if status == 400:
                # A page could frame it on its own host.
                assert b"content-security-policy: default-src 'none'; sandbox" in heard, heard
        assert process.poll() is None


def test_incomplete_head_times_out(desk: Office) -> None:
    listening = listen(AppConfig(head_seconds=1), free=True)
    with serve_in_thread(create_app(desk.store, listening.config), listening):
        port = listening.config.port
        whole = f"GET /api/v1/flag-kinds HTTP/1.1\r\nHost: ws.localhost:{port}\r\n\r\n".encode()
        for sent in (b"", b"GET / HTTP/1.1\r\nHo", whole + b"GET /x"):
            assert talk(port, sent).count(b"HTTP/1.1") == sent.count(whole)
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
            for _ in range(2):
                line.sendall(whole)
                heard = b""
                while not heard.endswith(b"}}"):
                    heard += line.recv(65536)
                assert heard.startswith(b"HTTP/1.1 401")
                # Between requests a connection may rest, and longer than a head may take.
                time.sleep(1.5)


@pytest.mark.parametrize("verb", ["review", "serve"])
def test_port_in_use_is_reported(desk: Office, tmp_path: Path, verb: str) -> None:
    desk.store.close()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = cli(verb, "--store", tmp_path / "s", "--port", port, "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["what"] == f"port {port} is in use" and error["next"] == "--port 0 takes a free one"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--host", "localhost"), "can have no subdomains"), (("--host", "a b.example"), "is not a host name"),
        (("--bind", "203.0.113.1"), "cannot listen"), (("--bind", "127.0.0.1:99999"), "is not a number from 0 to "
        "65535"),
        (("--scheme", "ftp"), "ftp"),
    ],
)  # fmt: skip
def test_invalid_addresses_are_refused(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    done = cli("serve", "--store", tmp_path / "s", *options)
    assert done.returncode == 2 and re.search(says, done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_review_continues_the_open_round(desk: Office) -> None:
    review = open_review(desk.people, "Me")
    record = desk.store.get(Round, review.round)
    assert (record.rule, record.overlap, record.reason) == (ResolutionRule.LATEST, 1, REASON)
    assert record.versions["people.waived_pilot"] == REASON
    item = desk.people.drafting.claim(review.account)
    assert item is not None
    desk.people.judging.submit(item.id, review.account, {"score": 1, "justification": "empty"}, "k")
    again = open_review(desk.people, "me", "x")
    assert (again.round, again.left, again.account) == (review.round, 3, review.account)
    desk.deliver_late("maker-0")
    assert open_review(desk.people, "me").left == 4
    set_state(desk.people.store, review.round, "closed")
    assert open_review(desk.people, "me").round != review.round


def test_review_joins_a_pairwise_round_and_says_what_is_missing(desk: Office, tmp_path: Path) -> None:
    round = desk.open(RoundKind.PAIRWISE)
    assert open_review(desk.people, "me").round == round.id
    with pytest.raises(UsageError, match="no experiment 'nope'"):
        open_review(desk.people, "me", "nope")
    account = desk.people.accounts.create("me", ["admin"])
    desk.people.accounts.change(account.id, None, roles=["evaluator"], disabled=True)
    assert len(open_review(desk.people, "me").account.roles) == 5
    empty = office(tmp_path / "empty", agents=0)
    with pytest.raises(PlanError, match=r"no submission fits(.|\n)*next: worksample\.resume"):
        open_review(empty.people, "me")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is a screen")
def test_browser_is_not_opened_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert open_browser("http://ws.localhost:1/link#x") is False
