from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tasks.helpers_package import GRADE, TASK, small, write
from worksample.errors import ManifestError
from worksample.files import HashSink
from worksample.files.config_files import FaultyManifest
from worksample.records import Protocol
from worksample.tasks import ingest, read_package


def test_valid_package_is_read_completely(tmp_path: Path) -> None:
    package = read_package(small(tmp_path))
    assert [i.name for i in package.instances] == ["one", "two"]
    assert package.instances[0].brief.startswith("## Work description\nAnswer for March.")
    assert package.instances[0].environment.limits.memory == 3 << 29
    assert package.instances[0].environment.limits.disk == 500_000_000
    assert package.gradings[Protocol.PROGRAM].settings == {"tolerance": 0.1, "timeout": 10.0, "memory": 512 << 20}
    assert package.probes == ("size.sh",)
    assert package.cases[0].passes == {"right": False}
    assert package.about.value is not None
    assert package.about.value.middle == 15


def grown(before: Path, **changes: str) -> set[str]:
    """Which digests of instance `one` differ after some files changed."""
    first = ingest(read_package(before), HashSink()).instances[0]
    write(before, dict(changes))
    second = ingest(read_package(before), HashSink()).instances[0]
    pairs = {
        "work": (first.work_digest, second.work_digest),
        "capture": (first.capture_digest, second.capture_digest),
        "grading": (first.grading_digest(Protocol.PROGRAM), second.grading_digest(Protocol.PROGRAM)),
        "about": (first.about.digest, second.about.digest),
    }
    return {name for name, (a, b) in pairs.items() if a != b}


@pytest.mark.parametrize(
    ("file", "text", "differs"),
    [
        ("brief.md", "New work for {{month}}", {"work"}),
        ("inputs/one/question.txt", "0?", {"work"}),
        ("software/tool.sh", "echo", {"work"}),
        ("inputs/two/question.txt", "0?", set()),
        ("reference/one/answer.txt", "9", {"grading"}),
        ("reference/two/answer.txt", "9", set()),
        ("grade.py", GRADE + "# changed", {"grading"}),
        ("rules/words.py", "WORDS = 4", {"grading"}),
        ("notes.md", "Look twice.", {"grading"}),
        ("probes/size.sh", "ls", {"capture"}),
        ("cases/wrong/output/answer.txt", "8", set()),
        ("dev/make.py", "print()", set()),
        ("README.md", "about", set()),
        ("__pycache__/grade.pyc", "x", set()),
        ("task.toml", TASK.replace("high = 20", "high = 30"), {"about"}),
        ("task.toml", TASK.replace("time = 60", "time = 61"), {"work"}),
        ("task.toml", TASK.replace("timeout = 10", "timeout = 11"), {"grading"}),
        ("task.toml", TASK.replace('month = "March"', 'month = "May"'), {"work", "grading"}),
    ],
)
def test_change_affects_only_its_digest(tmp_path: Path, file: str, text: str, differs: set[str]) -> None:
    assert grown(small(tmp_path), **{file: text}) == differs


def test_same_package_elsewhere_has_the_same_ids(tmp_path: Path) -> None:
    here = small(tmp_path)
    there = tmp_path / "other" / "small"
    shutil.copytree(here, there)
    first, second = (ingest(read_package(p), HashSink()) for p in (here, there))
    assert first.task.id == second.task.id
    assert first.task.instances == second.task.instances
    assert first.task.id.startswith("small@")


def faults(root: Path) -> list[str]:
    with pytest.raises(FaultyManifest) as caught:
        read_package(root)
    return [str(f) for f in caught.value.faults]


GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", sorted(p.stem for p in GOLDEN.glob("*.toml")))
def test_every_fault_names_file_key_and_allowed_values(tmp_path: Path, name: str) -> None:
    root = small(tmp_path)
    (root / "task.toml").write_text((GOLDEN / f"{name}.toml").read_text())
    assert "\n".join(faults(root)) + "\n" == (GOLDEN / f"{name}.txt").read_text()


def test_golden_manifests_exist() -> None:
    assert len(list(GOLDEN.glob("*.toml"))) >= 4


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("criteria.toml", "", "criteria.toml: criterion: the file has no criterion"),
        ("criteria.toml", '[[criterion]]\nid = "A"\ntext = "x"\npoints = 1', "criteria.toml: criterion[0].id: 'A'"),
        ("criteria.toml", '[[criterion]]\nid = "a"\ntext = "x"', "give either points or an importance"),
        ("criteria.toml", '[[criterion]]\nid = "a"\ntext = "x"\npoints = -1', "criterion[0].points: -1 is not allowed"),
        ("criteria.toml", '[[criterion]]\nid = "a"\ntext = "x"\nimportance = "criticl"', "did you mean 'critical'?"),
        ("criteria.toml", '[[criterion]]\nid = "a"\ntext = "x"\npoint = 1', "did you mean 'points'?"),
        (
            "criteria.toml",
            2 * '[[criterion]]\nid = "right"\ntext = "x"\npoints = 1\n',
            "criterion id 'right' is used twice",
        ),
        (
            "criteria.toml",
            '[[criterion]]\nid = "right"\ntext = "x"\npoints = 5\n[[criterion.part]]\nid = "p"\ntext = "x"\npoints = 1',
            "it has 5 points, but its parts add up to 1",
        ),
        ("brief.md", "for {{month}} and {{year}}", "{{year}}"),
        ("brief.md", "  ", "brief.md: is empty"),
        ("cases/wrong/case.toml", 'about = "x"\ninstance = "three"\nscore = 0', "'three' is not allowed"),
        ("cases/wrong/case.toml", 'about = "x"\ninstance = "one"\nscore = 2', "score: 2 is not allowed"),
        (
            "cases/wrong/case.toml",
            'about = "x"\ninstance = "one"\nscore = { low = 0.5, high = 0.1 }',
            "score: low (0.5) is above high (0.1)",
        ),
        (
            "cases/wrong/case.toml",
            'about = "x"\ninstance = "one"\nscore = 0\npasses = { rigt = true }',
            "did you mean 'right'?",
        ),
        ("cases/wrong/case.toml", "about = ", "is not TOML"),
        ("probes/size.txt", "", "probes/size.txt: is not a probe"),
        ("probes/size.py", "", "probes/size.py: two probes have the same name"),
    ],
)
def test_faults_of_other_files_are_named(tmp_path: Path, file: str, text: str, says: str) -> None:
    root = small(tmp_path)
    write(root, {file: text})
    assert any(says in f for f in faults(root)), faults(root)


@pytest.mark.parametrize(("target", "says"), [("/etc", "leaves the package"), ("one", "is a link")])
def test_links_are_faults(tmp_path: Path, target: str, says: str) -> None:
    root = small(tmp_path)
    (root / "inputs" / "three").symlink_to(target)
    assert any(f.startswith("inputs/three") and says in f for f in faults(root))


def test_link_to_an_instances_folder_is_a_fault(tmp_path: Path) -> None:
    root = small(tmp_path)
    shutil.rmtree(root / "reference" / "one")
    (root / "reference" / "one").symlink_to("/etc")
    assert any("instance[0].reference" in f and "goes through the link" in f for f in faults(root))


def test_cases_may_contain_hostile_links(tmp_path: Path) -> None:
    root = small(tmp_path)
    (root / "cases" / "wrong" / "output" / "link").symlink_to("/etc/passwd")
    assert read_package(root).cases[0].name == "wrong"


def test_yaml_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no such folder"):
        read_package(tmp_path / "none")
    (tmp_path / "task.yaml").write_text("id: x")
    with pytest.raises(ManifestError, match="written in TOML"):
        read_package(tmp_path)


def test_instances_override_limits_paths_and_deliverables(tmp_path: Path) -> None:
    root = small(tmp_path)
    own = 'limits = { time = 90, memory = "1GiB" }\npaths = { output = "/srv/out" }\n'
    own += 'deliverables = { "extra.csv" = { format = "csv" }, "answer.txt" = { format = "md" } }\n'
    (root / "task.toml").write_text(TASK + own)
    one, two = ingest(read_package(root), HashSink()).instances
    assert (one.work.environment.limits.time, two.work.environment.limits.time) == (60, 90)
    assert (one.work.environment.limits.memory, two.work.environment.limits.memory) == (3 << 29, 1 << 30)
    assert two.work.environment.limits.disk == one.work.environment.limits.disk == 500_000_000
    assert (one.work.environment.paths.output, two.work.environment.paths.output) == ("/task/output", "/srv/out")
    assert two.work.environment.paths.input == "/task/input"
    assert {d.name: d.format for d in one.work.deliverables} == {"answer.txt": "txt"}
    assert {d.name: d.format for d in two.work.deliverables} == {"answer.txt": "md", "extra.csv": "csv"}


def test_paths_of_an_instance_must_differ(tmp_path: Path) -> None:
    root = small(tmp_path)
    (root / "task.toml").write_text(TASK + 'paths = { output = "/task/input" }\n')
    assert any(
        "instance[1].paths: input, software, output and reference must each have a path of their own" in f
        for f in faults(root)
    )


def test_last_criterion_alone_implies_the_others(tmp_path: Path) -> None:
    root = small(tmp_path)
    leaf = '{}id = "{}"\ntext = "x"\npoints = 1\n'
    first = leaf.format("[[criterion]]\nimplies_others = true\n", "right") + leaf.format("[[criterion]]\n", "last")
    nested = leaf.format("[[criterion]]\n", "right") + (
        '[[criterion]]\nid = "b"\ntext = "x"\n' + leaf.format("[[criterion.part]]\nimplies_others = true\n", "c")
    )
    for text in (first, nested):
        (root / "criteria.toml").write_text(text)
        assert any("implies_others is allowed only for the last criterion" in f for f in faults(root)), text
    (root / "criteria.toml").write_text(first.replace("implies_others = true", "implies_others = false"))
    (root / "cases/wrong/case.toml").unlink()
    (root / "cases/wrong/case.toml").write_text('about = "x"\ninstance = "one"\nscore = 0\n')
    assert read_package(root).criteria.leaves
