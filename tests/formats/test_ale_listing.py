"""Packages of Agents' Last Exam are listed in boxes: each instance with the reason why it cannot be attempted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import worksample
from formats.ale_checkout import ROOT, add_data, add_package, add_tier
from worksample.errors import UsageError
from worksample.formats import TransferRequest, find_format
from worksample.formats.ale import AleListing, list_packages, read_checkout

FAULTY = {
    "never_ends": ("while True: pass", "did not end within 3 seconds"),
    "sleeps": ("import time\ntime.sleep(1000)", "did not end within 3 seconds"),
    "too_many": ("return [cb.Task('t', {}, {}) for _ in range(10_000)]", "returned 10,000 instances; at most 1,000"),
    "none": ("return []", "returned no instances"),
    "no_list": ("return 7", "failed: TypeError"),
    "raises": ("raise ValueError('no luck')", "failed: ValueError: no luck (main.py, line"),
    "exits": ("raise SystemExit(0)", "failed: SystemExit"),
    "ends_at_once": ("import os\nos._exit(0)", "ended the program (exit code 0)"),
    "no_metadata": ("return [cb.Task('t', None, {}), cb.Task('t', [1], {})]", "whose metadata or computer is not"),
    "objects": ("return [cb.Task('t', {'it': object()}, {})]", "a object in a task's metadata"),
    "not_a_number": ("return [cb.Task('t', {'it': float('nan')}, {})]", "failed: ValueError"),
    "large": ("return [cb.Task('t' * (17 << 20), {}, {})]", "more than 16,777,216 bytes"),
    "deep": ("it = {}\nfor _ in range(60): it = {'it': it}\nreturn [cb.Task('t', it, {})]", "levels deep"),
    "memory": ("it = b'x' * (2 << 30)\nreturn [cb.Task(str(len(it)), {}, {})]", "memory"),
    "random": ("import random\nreturn [cb.Task(str(random.random()), {}, {})]", "differ: description of instance 0"),
    "clock": ("import time\nreturn [cb.Task('t', {'at': time.time_ns()}, {})]", "differ: metadata 'at' of instance 0"),
    "hash_order": (
        "return [cb.Task(' '.join({str(n) for n in range(50)}), {}, {})]", "differ: description of instance 0"
    ),
    "number": (
        "import pathlib\nmark = pathlib.Path('/tmp/mark')\ncount = 2 + mark.exists()\nmark.touch()\n"
        "return [cb.Task('t', {}, {})] * count", "differ: 2 and 3 instances"
    ),
}  # fmt: skip
"""Package -> (the body of its load(), what the reason says)."""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AleListing]:
    checkout = tmp_path_factory.mktemp("ale") / "checkout"
    for name, (body, _) in FAULTY.items():
        add_package(checkout, f"legal/{name}", load=body)
    found = list_packages(read_checkout(checkout), checkout, seconds=3.0)
    return {one.package.name: one for one in found}


@pytest.mark.parametrize("name", [*FAULTY])
def test_faulty_load_is_a_reason(faulty: dict[str, AleListing], name: str) -> None:
    assert FAULTY[name][1] in faulty[name].fault


def test_instances_that_differ_are_still_counted(faulty: dict[str, AleListing]) -> None:
    assert len(faulty["random"].instances) == 1 and not faulty["raises"].instances


def test_missing_libraries_do_not_stop_the_list(tmp_path: Path) -> None:
    imports = (
        "import torch.nn as nn\nfrom torch.utils.data import Dataset\nfrom rasterio.errors import RasterioError\n"
        "class Mine(Dataset): pass\n@nn.no_grad()\ndef quick(): return 1\nassert quick() == 1\n"
        "import copy, json\nfrom PIL import Image as I\ntype_ = I.Image | None\ndef f(x: nn.Module[int]): ..."
    )
    add_package(tmp_path, "legal/heavy", imports=imports)
    [one] = list_packages(read_checkout(tmp_path), tmp_path)
    assert not one.fault and one.absent == ("PIL", "rasterio", "torch")


def test_helpers_with_the_same_name_stay_apart(tmp_path: Path) -> None:
    for name in ("first", "second"):
        body = "from score_outputs import WORD\nreturn [cb.Task(WORD, {}, {})]"
        add_package(tmp_path, f"legal/{name}", load=body, modules={"score_outputs": f"WORD = {name!r}"})
    found = list_packages(read_checkout(tmp_path), tmp_path)
    assert [one.instances[0].description for one in found] == ["first", "second"]


def test_package_reads_only_the_tasks_of_the_checkout(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "keys.env").write_text("KEY=1")
    body = (
        "import os, pathlib\nhere = pathlib.Path(__file__).parents[3]\n"
        "seen = [sorted(os.listdir(here)), os.path.exists(PLATFORM)]\n"
        "try: (here / 'tasks' / 'mine').write_text('x')\nexcept OSError: seen.append('read-only')\n"
        "return [cb.Task(repr(seen), {}, {})]"
    )
    add_package(tmp_path, "legal/curious", load=f"PLATFORM = {worksample.__file__!r}\n{body}")
    [one] = list_packages(read_checkout(tmp_path), tmp_path)
    assert one.instances[0].description == repr([["tasks"], False, "read-only"])


def test_each_instance_is_runnable_or_has_its_reason(tmp_path: Path) -> None:
    checkout, data = tmp_path / "checkout", tmp_path / "data"
    add_package(checkout, "legal/two_cases", variants=("one", "two"))
    add_package(checkout, "legal/on_windows", system="windows", snapshot="gpu-license")
    add_package(checkout, "legal/broken", load="raise OSError('gone')")
    add_package(checkout, "legal/prepares", start="await session.write_file('/task/secret', 'x')")
    add_data(data, "legal/prepares", input__numbers_csv="1,2")
    paths = {"input_dir": "/usr", "remote_output_dir": "/out", "reference_dir": "/ref"}
    add_package(
        checkout, "legal/places", load=f"return [cb.Task('t', {paths!r}, {{'setup_config': {{'os_type': 'linux'}}}})]"
    )
    add_tier(checkout, "near-term", "legal/two_cases", "legal/on_windows")
    add_data(data, "legal/two_cases", "one", input__numbers_csv="1,2")
    importer = find_format("ale").importer
    assert importer is not None
    report = importer.run(TransferRequest(checkout, None, {"data": str(data)}))
    found = {one["package"]: one for one in json.loads(json.dumps(report.plain))}
    needs = {name: [[*i["needs"]] for i in one["instances"]] for name, one in found.items()}
    assert needs == {
        "legal/broken": [],
        "legal/on_windows": [["ale-system", "ale-gpu", "ale-licence"]],
        "legal/places": [["ale-paths"]],
        "legal/prepares": [["ale-start"]],
        "legal/two_cases": [[], ["ale-data"]],
    }
    assert found["legal/broken"]["fault"].startswith("load() failed: OSError: gone")
    assert found["legal/two_cases"]["instances"][0]["paths"]["input"] == f"{ROOT}/legal/two_cases/one/input"
    tier = importer.run(TransferRequest(checkout, None, {"tier": "near-term"}))
    assert [one["package"] for one in tier.plain] == ["legal/on_windows", "legal/two_cases"]


def test_start_runs_in_a_box_for_each_linux_instance(tmp_path: Path) -> None:
    output = "task_cfg.metadata['remote_output_dir']"
    works = f"await session.create_dir({output})\nawait session.write_file({output} + '/x', 'y')"
    works += f"\nassert (await session.run_command('cat ' + {output} + '/x'))['stdout'] == 'y'"
    add_package(tmp_path, "legal/works", start=works, variants=("one", "two"))
    add_package(
        tmp_path, "legal/reads", start="await session.read_file(task_cfg.metadata['input_dir'] + '/numbers.csv')"
    )
    add_package(tmp_path, "legal/ends", start="import os\nos._exit(4)")
    add_package(tmp_path, "legal/writes_outside", start="open('/usr/bin/x', 'w')")
    add_package(tmp_path, "legal/on_windows", system="windows", start="raise ValueError('not called')")
    found = {one.package.name: one.starts for one in list_packages(read_checkout(tmp_path), tmp_path)}
    assert found["works"] == {"one": "", "two": ""}
    assert found["reads"]["base"].startswith("FileNotFoundError")
    assert found["ends"] == {"base": "ended the program (exit code 4)"}
    assert "Error" in found["writes_outside"]["base"] and not found["on_windows"]


def test_unknown_tier_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a checkout"):
        read_checkout(tmp_path)
    add_package(tmp_path, "legal/one")
    add_tier(tmp_path, "near-term", "legal/one")
    with pytest.raises(UsageError, match="no tier 'far'; there are near-term"):
        read_checkout(tmp_path, "far")


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": ' * 200, "\xff"])
def test_unreadable_card_is_no_obstacle(tmp_path: Path, text: str) -> None:
    folder = add_package(tmp_path, "legal/one")
    (folder / "task_card.json").write_text(text, encoding="latin-1")
    [package] = read_checkout(tmp_path)
    assert package.card_fault and package.snapshot == ""
