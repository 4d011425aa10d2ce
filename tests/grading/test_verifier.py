"""A task's own verifier: in a fresh box over the agent's result, from the submission alone."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandboxes.images import machine
from worksample.audit.control_submissions import control
from worksample.errors import Cause, ManifestError
from worksample.grading import grade, open_round, run_solution
from worksample.records import Evaluation, EvaluationOutcome, GradePayload, Instance, Protocol, Submission
from worksample.store import Store
from worksample.tasks import ingest, read_package

pytestmark = pytest.mark.box

TASK = """
id = "answer"
title = "An answer"
version = "1"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ad"

[environment]
image = "image.tar"
paths = {{ output = "/logs/artifacts" }}

[capture]
root = true

[grading.program]
timeout = 60

[grading.program.verifier]
command = ["bash", "/tests/test.sh"]
solution = ["bash", "/solution/solve.sh"]
{more}

[[instance]]
name = "one"
"""
GRADE = "from worksample.kit import verified as grade\n"
SOLVE = """set -e
echo 42 > /srv/answer; rm /etc/note; rm -r /srv/work; mkdir /srv/work; ln -s /etc/shadow /srv/work/link
mkdir -p /logs/verifier && echo 1 > /logs/verifier/reward.txt || true
mkdir -p /tests; echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh; echo kept > /tmp/kept
"""
VERIFY = """test ! -e /solution && test "$(cat /srv/answer)" = 42 && test ! -e /etc/note && test -L /srv/work/link
code=$?
test "$(cat /tmp/kept)" = kept && test $code = 0 &&
echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
"""


@dataclass
class Bench:
    folder: Path
    store: Store
    image: bytes

    def instance(self, more: str = 'tests = "tests"', **files: str) -> Instance:
        """The task with another verifier; `files` by names whose `_` is a slash."""
        root = self.folder / str(len(list(self.folder.iterdir()))) / "answer"
        texts = {"task.toml": TASK.format(more=more), "brief.md": "x", "grade.py": GRADE, "inputs/none": ""}
        texts |= {"reference/solve.sh": SOLVE, "tests/test.sh": VERIFY}
        for path, text in {**texts, **{name.replace("__", "/"): text for name, text in files.items()}}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        (root / "image.tar").write_bytes(self.image)
        taken = ingest(read_package(root), self.store.blobs)
        self.store.commit(taken.task, *taken.instances)
        return taken.instances[0]

    async def graded(self, instance: Instance, submission: Submission) -> Evaluation:
        round = open_round(
            self.store, subjects=(submission.id,), protocol=Protocol.PROGRAM, author="tester", reason="test"
        )
        return await grade(self.store, round, submission, instance)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    root = machine.make(tmp_path_factory.mktemp("machine") / "root")
    return machine.tarred(root)


@pytest.fixture
def bench(tmp_path: Path, image: bytes) -> Iterator[Bench]:
    (tmp_path / "packages").mkdir()
    with Store.open(tmp_path / "store", create=True) as store:
        yield Bench(tmp_path / "packages", store, image)


def score(evaluation: Evaluation) -> float:
    assert evaluation.outcome is EvaluationOutcome.GIVEN and isinstance(evaluation.payload, GradePayload), evaluation
    return evaluation.payload.score


def layer(store: Store, submission: Submission) -> Mapping[str, bytes]:
    """Names and kinds in the part `root`."""
    [entry] = store.manifest(submission.parts["root"].manifest).files
    assert entry.blob is not None
    with tarfile.open(fileobj=io.BytesIO(store.blobs.read(entry.blob))) as tar:
        return {member.name: member.type for member in tar}


async def test_solution_scores_full_and_empty_work_scores_zero(bench: Bench) -> None:
    instance = bench.instance()
    left = await run_solution(bench.store, instance, Protocol.PROGRAM)
    kept = layer(bench.store, left)
    assert {"srv/answer", "etc/.wh.note", "srv/work/.wh..wh..opq", "tmp/kept"} <= kept.keys()
    assert kept["srv/work/link"] == tarfile.SYMTYPE and not any(name.startswith("solution") for name in kept)
    # Its own test.sh and its own reward lie in what it left, and neither counts.
    assert score(await bench.graded(instance, left)) == 1.0
    assert score(await bench.graded(instance, control(bench.store, instance, "nothing"))) == 0.0
    stricter = bench.instance(**{"tests__test.sh": "true"})  # another verifier is another grading of the same work
    assert stricter.work_digest == instance.work_digest


async def test_missing_reward_is_ungraded_and_never_zero(bench: Bench) -> None:
    instance = bench.instance(**{"tests__test.sh": "echo because of this >&2; exit 1\n"})
    left = await run_solution(bench.store, instance, Protocol.PROGRAM)
    found = await bench.graded(instance, left)
    assert found.payload is None and found.cause is Cause.GRADER_MALFORMED
    assert "because of this" in found.reason


async def test_uncaptured_changes_leave_the_work_ungraded(bench: Bench) -> None:
    from worksample.files import HashSink
    from worksample.sandboxes.capture.root_changes import absent_part

    instance = bench.instance()
    left = control(bench.store, instance, "nothing")
    part = absent_part(bench.store.blobs, "the box was lost")
    assert part.manifest == absent_part(HashSink(), "").manifest
    lost = left.replaced(id="f" * 32, parts={**left.parts, "root": part})
    bench.store.commit(lost)
    found = await bench.graded(instance, lost)
    assert found.payload is None and "the box was lost" in found.reason


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("tests = 3", "tests"),
        ('network = "everything"', "none"),
        ('artifacts = ["../x"]', "plain absolute path"),
        ('nonsense = ""', "nonsense"),
    ],
)
def test_impossible_verifier_is_a_fault(more: str, says: str, bench: Bench) -> None:
    with pytest.raises(ManifestError, match=says):
        bench.instance(more)
