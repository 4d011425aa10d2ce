"""The test runner reports everything that a profile, a shard, a count or a list of skips leaves out."""

from __future__ import annotations

import gc
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forking.child import Child
from running import rewriting
from running.counts import Counts, fallen, raised, read, written
from running.profiles import dealt
from running.skips import Known, unknown

PLUGINS = ("profiles", "needs", "run_files", "counts", "skips", "rewriting")
TESTS = Path(__file__).parents[1]
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
INI = f"""
[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["tests", {str(TESTS)!r}]
addopts = "--import-mode=importlib -p no:cacheprovider"
markers = ["quick", "thorough", "long", "node"]
"""
CONFTEST = f"pytest_plugins = {tuple(f'running.{name}' for name in PLUGINS)}"
SUITE = {
    "a/test_a.py": """
        import pytest
        @pytest.mark.quick("x", "z")
        @pytest.mark.parametrize("p", ["x", "y", "z"])
        def test_some(p): pass
        @pytest.mark.thorough(quick="a/test_a.py::test_some")
        def test_slow(): pass
        @pytest.mark.thorough(quick="b/test_b.py::test_other[1]")
        def test_slower(): pass
    """,
    "b/test_b.py": """
        import pytest
        @pytest.mark.parametrize("p", [1, 2])
        def test_other(p): pass
    """,
}
COUNTS = "a = {quick = 2, all = 5}\nb = {quick = 2, all = 2}\n[fell]\n"


class Tree:
    """A small body of tests under the same plugins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in {"pyproject.toml": INI, "tests/conftest.py": CONFTEST}.items():
            self.write(name, text)
        self.write("tests/counts.toml", COUNTS)
        self.write("tests/skips.toml", "")
        for name, text in SUITE.items():
            self.test(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test(self, name: str, text: str) -> None:
        self.write(f"tests/{name}", re.sub(r"^        ", "", text, flags=re.MULTILINE))

    def run(self, *words: str) -> tuple[int, str]:
        # Plugins of all that is installed take longer to load than these tests.
        done = Child("pytest", ["-v", "-p", "xdist", *words], {**os.environ, **ALONE}, self.folder)
        out, err = done.communicate()
        return done.wait(), out + err

    def passed(self, *words: str) -> list[str]:
        """Names of the tests that passed; nothing else may have happened."""
        code, said = self.run(*words)
        assert code == 0, said
        return sorted(re.findall(r"^(?:\[gw.*PASSED )?tests/\w+/test_\w+\.py::(\S+) (?:PASSED|$)", said, re.MULTILINE))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_quick_profile_has_named_tests_and_all_has_everything(tree: Tree) -> None:
    assert tree.passed("--profile", "quick") == ["test_other[1]", "test_other[2]", "test_some[x]", "test_some[z]"]
    everything = tree.passed()
    assert len(everything) == 7 and {"test_slow", "test_slower", "test_some[y]"} < set(everything)
    parts = [tree.passed("--shard", f"{n}/2") for n in (1, 2)]
    assert all(parts) and sorted(parts[0] + parts[1]) == everything
    code, said = tree.run("--shard", "3/2")
    assert code != 0 and "--shard 3/2: K/N with K from 1 to N" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('@pytest.mark.quick("x", "w")\n@pytest.mark.parametrize("p", ["x", "y"])\ndef test_some(p): pass', "quick(w)"),
        ('@pytest.mark.thorough(quick="b/test_b.py::test_gone")\ndef test_some(): pass', "names no test of the quick"),
        ("@pytest.mark.thorough\ndef test_some(): pass", "names no test of the quick"),
    ],
)
def test_omitted_test_names_its_replacement(tree: Tree, text: str, says: str) -> None:
    tree.write("tests/a/test_a.py", f"import pytest\n{text}\n")
    for workers in ("0", "2") if says == "quick(w)" else ("0",):
        code, said = tree.run("--profile", "quick", "-n", workers)
        assert code == 1 and says in said and "INTERNALERROR" not in said


def test_replacement_may_name_its_parameters(tree: Tree) -> None:
    assert set(tree.passed("--profile", "quick", "tests/a/test_a.py::test_some[x]")) == {"test_some[x]"}


@pytest.mark.quick("2")
@pytest.mark.parametrize("workers", ["0", "2"])
def test_fewer_tests_than_counted_fail_the_run(tree: Tree, workers: str) -> None:
    tree.test("b/test_b.py", "def test_other(): pass")
    tree.test("a/test_a.py", SUITE["a/test_a.py"].replace("b/test_b.py::test_other[1]", "a/test_a.py::test_some"))
    code, said = tree.run("-n", workers, "--write-counts")
    assert code == 1 and "tests/b: 1 tests in profile all, but tests/counts.toml says 2" in said
    # Of one folder nobody can tell, and what is written down with a reason is enough.
    assert tree.run("tests/b")[0] == 0
    tree.write("tests/counts.toml", 'b = {quick = 1, all = 1}\n[fell]\nb = ["one said the same as another"]\n')
    assert tree.run("-n", workers, "--write-counts")[0] == 0
    assert read((tree.folder / "tests/counts.toml").read_text()) == (
        {"a": {"quick": 2, "all": 5}, "b": {"quick": 1, "all": 1}},
        {"b": ["one said the same as another"]},
    )


@pytest.mark.quick("0")
@pytest.mark.parametrize("workers", ["0", "2"])
def test_unlisted_skip_fails_the_run(tree: Tree, workers: str) -> None:
    tree.test("b/test_c.py", "import pytest\n@pytest.mark.parametrize('p', [1])\ndef test_c(p): pytest.skip('no disk')")
    assert tree.run("-n", workers)[0] == 0
    code, said = tree.run("-n", workers, "--known-skips")
    assert code == 1 and "tests/b/test_c.py::test_c[1]: no disk" in said
    tree.write("tests/skips.toml", '[[skip]]\ntests = "tests/b/*::test_c[1]"\nreason = "no *"\nbecause = "x"\n')
    assert tree.run("-n", workers, "--known-skips")[0] == 0


def test_run_files_are_removed_with_the_run(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shared := tmp_path / "shared").mkdir()
    monkeypatch.setenv("TMPDIR", str(shared))
    tree.test(
        "b/test_b.py",
        """
        import os
        from pathlib import Path
        def test_other():
            Path(os.environ["TMPDIR"], f"worksample-tests-{os.environ['PYTEST_XDIST_TESTRUNUID']}.lock").touch()
        """,
    )
    tree.write("tests/counts.toml", "")
    assert set(tree.passed("-n", "1", "tests/b")) == {"test_other"}
    assert not list(shared.glob("worksample-tests-*"))


@given(st.lists(st.integers(), max_size=9), st.lists(st.integers(), max_size=60), st.integers(1, 5))
def test_each_process_begins_with_its_share_of_long_tests(first: list[int], then: list[int], hands: int) -> None:
    longest, short = [("long", n) for n in first], [("short", n) for n in then]
    order = dealt(longest, short, hands)
    assert sorted(order) == sorted([*longest, *short])
    assert [one for one in order if one[0] == "short"] == short, "files stay together"
    assert dealt(longest, short, 1) == [*longest, *short]
    if len(then) >= len(first) * hands:
        at = 0
        for hand in range(hands):
            size = (len(order) - at) // (hands - hand)
            assert [one for one in order[at : at + size] if one[0] == "long"] == longest[hand::hands]
            assert order[at : at + size][: len(longest[hand::hands])] == longest[hand::hands]
            at += size


names = st.text("abcxyz", min_size=1, max_size=3)
numbers = st.fixed_dictionaries({"quick": st.integers(0, 9), "all": st.integers(0, 9)})
counts = st.dictionaries(names, numbers, max_size=4)


@given(counts, counts, st.dictionaries(names, st.lists(st.text('ab"\\ ', max_size=9), min_size=1), max_size=2))
def test_counts_are_written_and_only_rise(before: Counts, now: Counts, fell: dict[str, list[str]]) -> None:
    assert read(written(before, fell)) == (before, fell)
    assert fallen(before, raised(before, now)) == fallen(now, raised(before, now)) == []
    less = [f for f in before for name in ("quick", "all") if now.get(f, {}).get(name, 0) < before[f][name]]
    assert len(fallen(before, now)) == len(less)


def test_skips_are_listed_by_test_and_reason() -> None:
    known = (Known("tests/a.py::test_x[*]", "needs *", "why"),)
    skips = {
        "tests/a.py::test_x[1]": "needs root",
        "tests/a.py::test_x[2]": "broken",
        "tests/a.py::test_y": "needs root",
    }
    assert list(unknown(skips, known)) == ["tests/a.py::test_x[2]", "tests/a.py::test_y"]


def test_garbage_collection_skips_imported_modules() -> None:
    early = vars(pytest)
    assert gc.is_tracked(early)
    assert not any(found is early for found in gc.get_objects())


def test_asserts_are_rewritten_once_and_after_changes(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    files = [tree.folder / "tests" / name for name in SUITE]
    tree.test("b/test_b.py", "def test_other():\n    found = 1\n    assert found == 2")
    assert [rewriting.is_kept(file) for file in files] == [False, False]
    assert tree.run("--rewrite")[0] == 0
    assert [rewriting.is_kept(file) for file in files] == [True, True]
    assert "assert 1 == 2" in tree.run("-n", "2")[1]
    tree.test("b/test_b.py", "def test_other():\n    found = 3\n    assert found == 2")
    assert [rewriting.is_kept(file) for file in files] == [True, False]
    assert "assert 3 == 2" in tree.run()[1]
