"""Optional extras: the base works without them, and names the install command if one is needed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cli.run_cli import SCRIPTS, TINY, clean_environment
from worksample.errors import SandboxUnavailable
from worksample.extras import EXTRAS
from worksample.sandboxes.python_toolbox import OFFERED
from worksample.sandboxes.toolbox_download import download, requirement_lines

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {"argon2": "argon2-cffi", "presidio_analyzer": "presidio-analyzer"}
BLOCKED = """
import json, sys
for name in {names}: sys.modules[name] = None
from worksample.cli.command_line import code_of
codes = [code_of(words) for words in json.loads(sys.argv[1])]
print(codes, sorted({{"matplotlib"}} & set(sys.modules)))
"""


def names(lines: list[str]) -> set[str]:
    return {Requirement(line).name for line in lines}


def test_every_extra_installs_its_libraries_and_the_base_does_not() -> None:
    extras = PROJECT["optional-dependencies"]
    for extra, modules in EXTRAS.items():
        wants = {DISTRIBUTIONS.get(module, module) for module in modules}
        assert wants <= names(extras[extra])
        assert not wants & names(PROJECT["dependencies"])
    assert set(OFFERED) <= names(PROJECT["dependencies"]) | names(extras["toolbox"])


@pytest.mark.box
@pytest.mark.long(seconds=15)
def test_run_grade_and_resume_work_without_extras_and_others_name_the_command(tmp_path: Path) -> None:
    where = ["--store", str(tmp_path / "s")]
    run = [
        "run",
        "--suite",
        str(TINY),
        "--agent",
        "scripted",
        "--script",
        str(SCRIPTS / "good"),
        "--name",
        "one",
        *where,
    ]
    verbs = [
        [*run, "--dry-run"], run, ["resume", "one", *where], ["grade", "one", *where],
        ["report", "one", *where], ["metrics", "one", *where], ["compare", "good", "bad", *where], ["serve", *where],
        ["import", "tac", "--list"],
    ]  # fmt: skip
    program = BLOCKED.format(names=("scipy", "argon2", "uvloop", "inspect_evals"))
    words = [sys.executable, "-c", program, json.dumps(verbs)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=clean_environment(), timeout=400)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 0, 2, 2, 2, 2, 2] []", done.stdout + done.stderr
    assert done.stdout.count("next: pip install 'worksample[report]', then worksample report one ") == 2, done.stdout
    assert done.stderr.count("next: pip install 'worksample[report]'") == 4
    assert "next: pip install 'worksample[review]'" in done.stderr
    assert "next: pip install 'worksample[tac]'" in done.stderr


def a_wheel(folder: Path) -> None:
    """A library of one line."""
    info = "trinket-1.0.dist-info"
    files = {
        "trinket.py": "worth = 7\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: trinket\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / "trinket-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


def test_toolbox_downloads_missing_libraries_or_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_wheel(tmp_path)
    for tool in ("UV", "PIP"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(tmp_path))
    download(["trinket==1.0"], tmp_path / "here")
    assert (tmp_path / "here" / "trinket.py").read_text() == "worth = 7\n"
    with pytest.raises(SandboxUnavailable, match="cannot be downloaded") as failed:
        download(["no-such-trinket==1.0"], tmp_path / "there")
    assert failed.value.next == "pip install 'worksample[toolbox]'"


@pytest.mark.thorough(quick="repo/test_extras.py::test_toolbox_downloads_missing_libraries_or_names_the_command")
@pytest.mark.box
def test_run_with_unavailable_libraries_ends_before_it_begins(tmp_path: Path) -> None:
    store = tmp_path / "s"
    run = ["run", "--suite", str(TINY), "--agent", "scripted", "--script", str(SCRIPTS / "good"), "--store", str(store)]
    program = BLOCKED.format(names=("matplotlib",))
    env = clean_environment(XDG_CACHE_HOME=str(tmp_path / "cache"), UV="/bin/false")
    words = [sys.executable, "-c", program, json.dumps([run, ["doctor"]])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=400, env=env)
    assert done.stdout.splitlines()[-1].startswith("[1, 0]"), done.stdout + done.stderr
    assert "cannot be downloaded: exit status 1" in done.stderr and done.stderr.count("cannot be downloaded") == 1
    assert "next: pip install 'worksample[toolbox]'" in done.stderr
    assert "the first run fetches its libraries by false" in done.stdout
    assert not store.exists()


def test_pip_is_found_if_the_environment_has_none() -> None:
    """An environment that uv made has no pip: the one that comes with Python is taken."""
    program = "import sys; sys.modules['pip'] = None\nfrom worksample.sandboxes.toolbox_download import find_pip\n"
    words = [sys.executable, "-c", f"{program}print(*find_pip(), '--version')"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, env=clean_environment()).stdout.split()
    if said != ["--version"]:  # this machine has one
        ran = subprocess.run(said, capture_output=True, text=True, check=False)
        assert ran.stdout.startswith("pip "), ran.stderr


def test_requirements_use_the_installed_versions() -> None:
    from importlib.metadata import version

    assert requirement_lines(("numpy", "ipython")) == (f"numpy=={version('numpy')}", f"ipython=={version('ipython')}")
    assert requirement_lines(("absent-here",)) == ("absent-here",)


@pytest.mark.box
@pytest.mark.long(seconds=200)
@pytest.mark.thorough(
    quick="repo/test_extras.py::test_run_grade_and_resume_work_without_extras_and_others_name_the_command"
)
def test_fresh_environment_with_the_base_alone_works(tmp_path: Path) -> None:
    """The starter suite with its Python tool, whose libraries are fetched; then what the base weighs."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    fresh, python = tmp_path / "fresh", tmp_path / "fresh" / "bin" / "python"
    env = clean_environment(XDG_CACHE_HOME=str(tmp_path / "cache"), VIRTUAL_ENV=str(fresh))

    def typed(*words: object) -> str:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
        assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    typed(uv, "venv", "-q", "--python", sys.executable, fresh)
    typed(uv, "pip", "install", "-q", *PROJECT["dependencies"])
    typed(uv, "pip", "install", "-q", "--no-deps", "-e", ROOT)
    assert sum(p.lstat().st_size for p in fresh.rglob("*")) < 460 << 20
    scripts = ROOT / "src/worksample/suites/starter/scripts/good"
    program = (python, "-m", "worksample")
    said = typed(*program, "run", "--suite", "starter", "--agent", "scripted", "--script", scripts, "--name", "one")
    assert "24" in said
    typed(*program, "resume", "one")
    typed(*program, "grade", "one")
    assert any((tmp_path / "cache").iterdir())
