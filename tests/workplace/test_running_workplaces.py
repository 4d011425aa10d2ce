"""A workplace for people on the command line: started, used, reset, exported, ended."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from cli.run_cli import cli, cli_json
from worksample.errors import UsageError
from worksample.workplace.running_workplaces import is_running, send_command

EXAMPLE = Path(__file__).parents[2] / "examples/invoice-1043/company"


def test_unknown_name_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(UsageError, match="no workplace of this name is running"):
        send_command("nobody", "status")
    with pytest.raises(UsageError, match="cannot be the name"):
        is_running("../etc")
    assert not is_running("nobody")


def said(address: str, who: str, password: str, path: str, body: dict[str, str] | None = None) -> tuple[int, str]:
    """Status and text."""
    word = base64.b64encode(f"{who}:{password}".encode()).decode()
    asked = urllib.request.Request(
        address.replace(".localhost", "").replace("//chat", "//127.0.0.1").rstrip("/") + path,
        json.dumps(body).encode() if body else None,
        {"Authorization": f"Basic {word}"},
    )
    try:
        with urllib.request.urlopen(asked, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture
def name() -> Iterator[str]:
    name = f"test-{uuid4().hex[:8]}"
    yield name
    if is_running(name):
        cli("workplace", "down", "--name", name)


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=40)
@pytest.mark.thorough(quick="workplace/test_export_folder.py::test_written_export_is_read_back")
def test_workplace_runs_for_people(name: str, tmp_path: Path) -> None:
    first = cli_json("workplace", "up", EXAMPLE, "--name", name, "--services", "chat,files")
    assert [one["name"] for one in cli_json("workplace", "status") if one["name"] == name] == [name]
    again = cli("workplace", "up", EXAMPLE, "--name", name)
    assert again.returncode and "is already running" in again.stderr
    rosa = cli_json("workplace", "open", "chat", "--name", name, "--as", "rosa")
    assert rosa["address"] == first["addresses"]["chat"]
    chat, who = rosa["address"], ("rosa", rosa["password"])
    page = said(chat, *who, "/")
    assert page[0] == 200 and "/page/converse.min.js" in page[1]
    assert said(chat, *who, "/page/converse.min.js")[0] == 200
    assert said(chat, *who, "/api/rooms/general", {"text": "before the export"})[0] == 201
    assert cli("workplace", "export", tmp_path / "kept", "--name", name).returncode == 0
    assert said(chat, *who, "/api/rooms/general", {"text": "after the export"})[0] == 201
    assert cli("workplace", "reset", "--name", name).returncode == 0
    assert "before the export" not in said(chat, *who, "/api/rooms/general")[1]
    assert cli("workplace", "down", "--name", name).returncode == 0
    assert not is_running(name)
    other = cli_json("workplace", "up", tmp_path / "kept", "--name", name)
    assert set(other["addresses"]) == {"chat", "files"}
    heard = said(other["addresses"]["chat"], *who, "/api/rooms/general")[1]
    assert "before the export" in heard and "after the export" not in heard
    assert cli("workplace", "down", "--name", name).returncode == 0
