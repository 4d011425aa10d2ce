"""Profiles of colleagues: from a company's folder, and from TheAgentCompany."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from cli.run_cli import cli, cli_json
from worksample.errors import ManifestError
from worksample.files.config_files import FaultyManifest
from worksample.workplace.colleagues.responders import prompt_of
from worksample.workplace.colleagues.the_agent_company import account_of, read_npcs, read_scenarios
from worksample.workplace.company_reader import read_company

EXAMPLE = Path(__file__).parents[3] / "examples/invoice-1043/company"


@pytest.fixture
def company(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "company"))


def edited(old: str, new: str) -> Callable[[Path], object]:
    def edit(root: Path) -> None:
        path = root / "colleagues/rosa.toml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))

    return edit


def of_nobody(root: Path) -> None:
    shutil.copy(root / "colleagues/rosa.toml", root / "colleagues/roza.toml")


FAULTS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "of nobody": (of_nobody, ("colleagues/roza.toml", "did you mean 'rosa'?")),
    "marks that the text has not": (edited('["Wednesday", "11 March"]', '["Friday"]'), ("knows[0].marks",)),
    "no marks": (edited('marks = ["150"]', "marks = []"), ("knows[1].marks", "at least one")),
    "two of one id": (
        edited('id = "discount"', 'id = "deadline"'),
        ("knows[1].id", "two entries have the id 'deadline'"),
    ),
    "told at no such time": (edited('tell = "never"', 'tell = "sometimes"'), ("knows[1].tell",)),
    "a rule for everything": (edited('when = ["1390.81"]', "when = []"), ("rule[0].when",)),
    "a misspelt key": (edited("strategy =", "stratgy ="), ("stratgy", "strategy")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_profile_are_named(company: Path, fault: str) -> None:
    change, said = FAULTS[fault]
    change(company)
    with pytest.raises(FaultyManifest) as caught:
        read_company(company)
    for word in said:
        assert word in str(caught.value)


def test_company_is_audited_by_the_command_line(company: Path) -> None:
    said = cli_json("workplace", "audit", company)
    assert (said["colleagues"], said["faults"], said["usage"]) == (["rosa"], [], None)
    edited('about = ["when", "invoice"]', 'about = ["good"]')(company)
    done = cli("workplace", "audit", company)
    assert done.returncode == 1
    assert "tells unasked" in done.stdout and "does not tell when asked" in done.stdout


def test_original_scenarios_are_read() -> None:
    data = {"Li Ming": {"extra_info": "Someone asks for the salary.", "strategy_hint": "Say 120,000 to 150,000."}}
    [li] = read_scenarios(json.dumps(data).encode())
    assert (li.id, li.name, li.backing) == ("li_ming", "Li Ming", "model")
    assert "Say 120,000 to 150,000." in prompt_of(li) and "You are Li Ming" in prompt_of(li)


@pytest.mark.parametrize(
    "data",
    [b"[]", b'{"Li": 1}', b'{"Li": {"strategy": "x"}}', b'{"Li": {"extra_info": 7}}', b'{"!!": {}}', b"{", b"[" * 9999],
)
def test_invalid_scenarios_are_refused(data: bytes) -> None:
    with pytest.raises(ManifestError):
        read_scenarios(data)


@pytest.mark.parametrize("npcs", [{}, [7], [{}], [{"username": "a"}], [{"username": 1, "system_prompt": "x"}], "ab"])
def test_invalid_npcs_are_refused(npcs: object) -> None:
    with pytest.raises(ManifestError):
        read_npcs(npcs)


def test_name_becomes_an_account() -> None:
    assert account_of("Zhang Wei") == "zhang_wei"
    with pytest.raises(ManifestError):
        account_of("7 of 9")


@pytest.mark.tac
def test_every_npc_of_the_port_is_read() -> None:
    import yaml

    spec = find_spec("inspect_evals")
    assert spec is not None and spec.origin is not None
    found = {}
    for path in sorted((Path(spec.origin).parent / "theagentcompany/tasks").glob("*/eval.yaml")):
        given = yaml.safe_load(path.read_text())
        if given.get("npcs"):
            read = read_npcs(given["npcs"], where=str(path))
            assert len(read) == len(given["npcs"])
            found[path.parent.name] = read
    assert len(found) >= 4
    [david] = found["finance_apply_tax_credit"]
    assert (david.id, david.name, david.role) == ("david_wong", "David Wong", "finance director")
    assert "27386.29" in prompt_of(david)
