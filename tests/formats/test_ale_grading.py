"""Packages of Agents' Last Exam are imported and graded by their own evaluate(), and "cannot grade" is never a 0."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from formats.ale_checkout import ROOT, add_data, add_package
from worksample.audit.control_submissions import control_case
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.formats import TransferRequest, find_format
from worksample.formats.ale.judge_helpers import JudgeHelpers
from worksample.grading import grade, open_round
from worksample.kit import Case, Judged
from worksample.records import Agent, Evaluation, GradePayload
from worksample.store import Store
from worksample.tasks import ingest, read_package

pytestmark = pytest.mark.box

SUM = """
meta = task_cfg.metadata
try:
    import json
    truth = json.loads(await session.read_file(meta["reference_dir"] + "/truth.json"))
    given = json.loads(await session.read_file(meta["remote_output_dir"] + "/sum.json"))
    return [sum(given.get(key) == value for key, value in truth.items()) / len(truth)]
except Exception:
    return [0.0]
"""
OUTPUT_FIRST = """
if not await session.file_exists(task_cfg.metadata["remote_output_dir"] + "/sum.json"):
    return [0.0]
""" + SUM.replace("truth.json", "absent.json")
XML = """
import xml.etree.ElementTree as tree
try:
    tree.parse(task_cfg.metadata["remote_output_dir"] + "/it.xml")
    return [1.0]
except Exception:
    return [0.0]
"""
AGENTS_MODULE = """
import importlib.util as u
try:
    spec = u.spec_from_file_location("theirs", task_cfg.metadata["remote_output_dir"] + "/it.py")
    module = u.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [1.0]
except Exception:
    return [0.0]
"""
CHECKER = """
meta = task_cfg.metadata
done = await session.run_command(f"{WORDS} {meta['remote_output_dir']}/truth.json", timeout=60, check=True)
return [1.0 if done["return_code"] == 0 else 0.0]
"""
JUDGED = """
from tasks.utils.evaluation import llm_multimodal_binary_questions_sync
try:
    text = [{"type": "text", "text": "It is blue."}]
    found = llm_multimodal_binary_questions_sync(prompt_context="Look.", questions=["Is it blue?"], content=text)
    return [found["final_score"]]
except Exception:
    return [0.0]
"""
MOVED = """
meta = task_cfg.metadata
given = await session.read_file(meta["remote_output_dir"] + "/truth.json")
await session.write_file("/tmp/given.json", given)
done = await session.run_command("python3 -m json.tool /tmp/given.json")
return [1.0 if done["return_code"] == 0 else 0.0]
"""
BROKEN = """
done = await session.run_command("python3 -c 'raise SystemExit(3)'")
return [1.0 if done["return_code"] == 0 else 0.0]
"""
TRUTH = '{"a": 1, "b": 2}'
WHOLE = {"reference__truth_json": TRUTH}
CASES = {
    "right": (SUM, WHOLE, {"sum.json": TRUTH}, 1.0),
    "half": (SUM, WHOLE, {"sum.json": '{"a": 1, "b": 3}'}, 0.5),
    "missing": (SUM, WHOLE, {}, 0.0),
    "malformed": (SUM, WHOLE, {"sum.json": "{"}, 0.0),
    "no_reference": (SUM, {}, {"sum.json": TRUTH}, "grader.lacks"),
    "no_reference_no_output": (SUM, {}, {}, "grader.lacks"),
    "other_reference": (SUM, {"reference__other_json": "{}"}, {"sum.json": TRUTH}, "grader.lacks"),
    "one_file_absent": (OUTPUT_FIRST, WHOLE, {"sum.json": TRUTH}, "grader.lacks"),
    "junk_reference": (SUM, {"reference__truth_json": "junk"}, {"sum.json": "junk"}, "grader.reference"),
    "empty_reference": (SUM, {"reference__truth_json": ""}, {"sum.json": ""}, "grader.reference"),
    "nan": ("return [float('nan')]", WHOLE, {}, "grader.malformed"),
    "two": ("return [1.0, 1.0]", WHOLE, {}, "grader.malformed"),
    "rubbish": ("return ['1.0']", WHOLE, {}, "grader.malformed"),
    "above_one": ("return [1.5]", WHOLE, {}, "grader.malformed"),
    "raises": ("raise ValueError('no')", WHOLE, {}, "grader.crash"),
    "library": ("try:\n    import nonesuch\nexcept ImportError:\n    return [0.0]", WHOLE, {}, "grader.lacks"),
    "judge_text": (
        "from tasks.utils.evaluation import llm_multimodal_text\ntry:\n    return [llm_multimodal_text(content=[])]\n"
        "except Exception:\n    return [0.0]", WHOLE, {}, "grader.lacks",
    ),
    "judge_absent": (JUDGED, WHOLE, {"it.png": "no picture"}, "judge.lacks"),
    "screen": ("try:\n    await session.screenshot()\nexcept Exception: pass\nreturn [0.0]", WHOLE, {}, "grader.lacks"),
    "agents_xml": (XML, WHOLE, {"it.xml": "<a>"}, 0.0),
    "agents_import": (AGENTS_MODULE, WHOLE, {"it.py": "import nonesuch"}, 0.0),
    "agents_syntax": (AGENTS_MODULE, WHOLE, {"it.py": "def"}, 0.0),
    "no_program": (CHECKER.replace("{WORDS}", "nonesuch"), WHOLE, {"truth.json": TRUTH}, "grader.lacks"),
    "control_succeeds": (CHECKER.replace("{WORDS}", "python3 -m json.tool"), WHOLE, {"truth.json": "{"}, 0.0),
    "agents_words": (
        CHECKER.replace("{WORDS}", "python3"), {"reference__truth_json": TRUTH},
        {"truth.json": "raise ModuleNotFoundError('No module named x')"}, 0.0,
    ),
    "control_fails": (
        CHECKER.replace("{WORDS}", "python3 -c 'raise SystemExit(3)'"), WHOLE, {"truth.json": TRUTH}, 0.0
    ),
    "moved_first": (MOVED, WHOLE, {"truth.json": "{"}, 0.0),
    "reads_nothing": (BROKEN, WHOLE, {"truth.json": TRUTH}, "grader.lacks"),
}  # fmt: skip
"""Package -> (evaluate, reference, submission, the score or the cause of no score)."""


class ScriptedCase(Case):
    """A case whose judge says yes to questions with the word `blue`."""

    def ask(self, question: str, *exhibits: Any, **given: Any) -> Judged:
        """Answer as the script says."""
        self.settings.setdefault("exhibits", []).append([type(one).__name__ for one in exhibits])
        return Judged("blue" in question)


async def test_judge_helpers_ask_the_judge_one_question_at_a_time() -> None:
    picture = io.BytesIO()
    Image.new("RGB", (2, 2)).save(picture, "PNG")
    case = ScriptedCase({})
    helpers = JudgeHelpers(case)
    found = await helpers.llm_vision_binary_checklist_judge(
        prompt_intro="Look.", checklist_items=[("a", "Is it blue?"), ("b", "Is it red?")],
        image_bytes=picture.getvalue(), reference_image_bytes=picture.getvalue(),
    )  # fmt: skip
    assert found["score"] == 0.5 and found["checklist_answers"] == {"a": "YES", "b": "NO"}
    assert (
        await helpers.llm_vision_yes_no_judge(prompt="blue?", image_bytes=picture.getvalue(), return_details=False) == 1
    )
    said = helpers.llm_vision_binary_questions_sync(
        prompt_context="Look.", questions=["blue?", "red?", "blue too?"], image_bytes_list=[picture.getvalue()]
    )
    assert (said["yes_count"], said["no_count"], said["final_score"]) == (2, 1, 2 / 3)
    assert case.settings["exhibits"][0] == ["PngImageFile"] * 2 and not helpers.asked
    with pytest.raises(RuntimeError, match="no language model answers llm_vision_judge"):
        await helpers.llm_vision_judge("Describe it.", picture.getvalue())
    assert helpers.asked == ["llm_vision_judge"]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A checkout with all cases, imported; (the packages' folder, the submissions' folder)."""
    folder = tmp_path_factory.mktemp("ale")
    checkout, data, work = folder / "checkout", folder / "data", folder / "work"
    for name, (evaluate, reference, submission, _) in CASES.items():
        add_package(checkout, f"legal/{name}", evaluate=evaluate)
        add_data(data, f"legal/{name}", input__numbers_csv="1,2", **reference)
        (work / name / "output").mkdir(parents=True)
        for path, text in submission.items():
            (work / name / "output" / path).write_text(text)
    importer = find_format("ale").importer
    assert importer is not None
    report = importer.run(TransferRequest(checkout, folder / "out", {"data": str(data)}))
    assert report.complete and all(not one["needs"]["base"] for one in report.plain["written"])
    return folder / "out", work


@pytest.mark.parametrize("name", [*CASES])
async def test_evaluation_is_a_score_or_says_why_not(imported: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    out, work = imported
    with Store.open(tmp_path / "store", create=True) as store:
        taken = ingest(read_package(out / f"ale-{name}"), store.blobs)
        store.commit(taken.task, *taken.instances)
        submission = control_case(store, taken.instances[0], name, work / name)
        round = open_round(store, subjects=(submission.id,), author="test")
        evaluation: Evaluation = await grade(store, round, submission, taken.instances[0])
    payload = evaluation.payload
    found = payload.score if isinstance(payload, GradePayload) else str(evaluation.cause)
    assert found == CASES[name][3], evaluation.reason


def test_agent_finds_paths_and_text_as_the_package_says(imported: tuple[Path, Path]) -> None:
    [instance] = read_package(imported[0] / "ale-right").instances
    assert instance.environment.paths.output == f"{ROOT}/legal/right/base/output"
    assert f"Write the sum to {ROOT}/legal/right/base/output (base)." in instance.brief


def test_instances_of_one_package_have_obstacles_of_their_own(tmp_path: Path) -> None:
    checkout, data = tmp_path / "checkout", tmp_path / "data"
    add_package(checkout, "legal/two", variants=("one", "two"))
    add_package(checkout, "legal/broken", load="raise OSError('gone')")
    add_data(data, "legal/two", "one", input__numbers_csv="1,2")
    importer = find_format("ale").importer
    assert importer is not None
    report = importer.run(TransferRequest(checkout, tmp_path / "out", {"data": str(data)}))
    assert not report.complete and [*report.plain["faults"]] == ["legal/broken"]
    with Store.open(tmp_path / "store", create=True) as store:
        instances = ingest(read_package(tmp_path / "out" / "ale-two"), store.blobs).instances
    agent = Agent(id="a", name="a", harness="scripted", model="none")
    assert [why_incompatible(agent, one) for one in instances] == ["", "needs services: ale-data"]
