"""A workplace for people on the command line: started, used, reset, exported, ended."""

from __future__ import annotations

import base64
import json
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from cli.run_cli import cli, cli_json
from worksample.errors import UsageError
from worksample.workplace.answering_colleagues import answering
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


def password(name: str, who: str) -> str:
    return str(cli_json("workplace", "open", "chat", "--name", name, "--as", who)["password"])


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it holds within two minutes."""
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.2)
    return False


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


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.long(seconds=40)
@pytest.mark.thorough(
    quick="workplace/test_running_workplaces.py::test_colleagues_who_cannot_answer_are_refused_before_a_start"
)
def test_colleagues_answer_people_also_after_a_reset(name: str, tmp_path: Path) -> None:
    first = cli_json("workplace", "up", EXAMPLE, "--name", name, "--services", "chat", "--colleagues", "rules")
    assert first["colleagues"]["people"] == ["rosa"]
    chat, who = first["addresses"]["chat"], ("ines", password(name, "ines"))
    for reset in (False, True):
        if reset:
            assert cli("workplace", "reset", "--name", name).returncode == 0
        assert said(chat, *who, "/api/direct/rosa", {"text": "Good morning Rosa!"})[0] == 201
        assert eventually(lambda: '"by":"rosa"' in said(chat, *who, "/api/direct/rosa")[1])
    [status] = [one for one in cli_json("workplace", "status") if one["name"] == name]
    assert status["colleagues"]["answered"] == 1 and status["colleagues"]["failed"] == 0
    assert cli("workplace", "down", "--name", name).returncode == 0


@pytest.mark.parametrize(
    ("services", "by", "reason"),
    [("files", "rules", "not started"), ("chat", "rules", "no colleague of this company answers by rules")],
)
def test_colleagues_who_cannot_answer_are_refused_before_a_start(
    services: str, by: str, reason: str, tmp_path: Path
) -> None:
    company = tmp_path / "company"
    shutil.copytree(EXAMPLE, company)
    for path in (company / "colleagues").glob("*.toml"):
        path.write_text('backing = "model"\n' + path.read_text())
    with pytest.raises(UsageError, match=reason):
        answering(company, by, services.split(","))
    (company / "company.toml").unlink()
    (company / "state").mkdir()
    with pytest.raises(UsageError, match=r"an export holds no colleagues|not started"):
        answering(company, by, services.split(","))


def test_model_plays_all_colleagues(tmp_path: Path) -> None:
    assert [one.backing for one in answering(EXAMPLE, "provider/model", ("chat",))] == ["model"]
    assert [one.backing for one in answering(EXAMPLE, "rules", ("chat",))] == ["rules"]
