"""A colleague silenced by our fault: the try is the platform's failure and is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.run_cli import cli
from worksample.errors import Cause
from worksample.records import Evaluation, Submission, Trial
from worksample.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples"
QUICK = "workplace/colleagues/test_colleague_runner.py::test_silence_by_our_fault_ends_the_work_and_is_recorded"

ASKS = """
[[step]]
run = '''
python3 - <<'PY'
import base64, json, time, urllib.request
word = "Basic " + base64.b64encode(b"assistant:paddle-and-float-26").decode()
def ask(body=None):
    asked = urllib.request.Request("http://chat:3000/api/direct/rosa", body, {"Authorization": word})
    with urllib.request.urlopen(asked, timeout=600) as answer:
        return json.load(answer)
ask(json.dumps({"text": "By when does the school want the invoice?"}).encode())
while ask()["messages"][-1]["by"] != "rosa":
    time.sleep(0.2)
PY
'''
"""


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.thorough(quick=QUICK)
@pytest.mark.long(seconds=40)
def test_try_is_our_failure_and_the_next_one_counts(tmp_path: Path) -> None:
    (tmp_path / "script").mkdir()
    (tmp_path / "script/invoice-1043.toml").write_text(ASKS)
    done = cli(
        "run", "--task", EXAMPLES / "invoice-1043", "--agent", "scripted", "--script", tmp_path / "script",
        "--store", tmp_path / "store", cwd=tmp_path, env={"WORKSAMPLE_FAULT": "colleague.answer:raise:1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    with Store.open(tmp_path / "store") as store:
        first, second = sorted(store.find(Trial), key=lambda one: one.try_number)
        assert first.outcome.cause is Cause.PLATFORM_CRASH, first.outcome
        assert "a failure at colleague.answer" in first.outcome.reason
        assert second.outcome.finished, second.outcome
        assert {one.subject for one in store.find(Evaluation)} == {second.id}
        part = store.get(Submission, first.id).parts["colleagues"]
        [entry] = store.manifest(part.manifest).files
        assert b'"crashed":"RuntimeError: a failure at colleague.answer' in store.blobs.read(entry.blob or "")
