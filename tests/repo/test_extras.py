"""Optional extras: the base works without them, and names the install command if one is needed."""

from __future__ import annotations

import json
import re
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
from worksample.extras import EXTRAS, InstallOrigin, install_command
from worksample.sandboxes.python_toolbox import OFFERED
from worksample.sandboxes.toolbox_download import download, requirement_lines

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {
    "Xlib": "python-xlib",
    "shapefile": "pyshp",
    "argon2": "argon2-cffi",
    "presidio_analyzer": "presidio-analyzer",
}
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
    assert done.stdout.count(f"next: {install_command('report')}, then worksample report one ") == 2, done.stdout
    assert done.stderr.count(f"next: {install_command('report')}") == 4
    assert f"next: {install_command('review')}" in done.stderr
    assert f"next: {install_command('tac')}" in done.stderr


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
    assert failed.value.next == install_command("toolbox")


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
    assert f"next: {install_command('toolbox')}" in done.stderr
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


REQUIRES = (
    "numpy>=2", 'scipy<2,>=1.17; extra == "report"', 'copyparty==1.20.26; extra == "workplace"',
    'psycopg[binary]<4,>=3.2; extra == "postgres"', 'worksample[report,workplace]; extra == "all"',
)  # fmt: skip


def made_by(folder: Path, *files: str) -> Path:
    """Return an environment's folder with these files."""
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    return folder


def test_install_command_fits_the_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel, clone = tmp_path / "dist/worksample-0.2-py3-none-any.whl", tmp_path / "my clone"
    made_by(wheel.parent, wheel.name)
    clone.mkdir()
    pip = made_by(tmp_path / "env", "bin/pip")
    monkeypatch.setenv("PATH", str(pip / "bin"))
    assert InstallOrigin(pip).command("report") == "pip install 'worksample[report]'"
    assert InstallOrigin(pip, str(wheel)).command("report", "tac") == f"pip install '{wheel}[report,tac]'"
    assert InstallOrigin(pip, str(clone), editable=True).command("tac") == f"pip install -e '{clone}[tac]'"
    git = "git+https://example.org/worksample@abc"
    assert InstallOrigin(pip, git).command("tac") == f"pip install 'worksample[tac] @ {git}'"
    # The wheel was deleted after it was installed: what an extra needs stands in the metadata.
    gone = InstallOrigin(pip, "/nowhere/worksample.whl", requirements=REQUIRES)
    assert gone.command("workplace") == "pip install copyparty==1.20.26"
    assert gone.command("postgres") == "pip install 'psycopg[binary]<4,>=3.2'"
    assert gone.command("all") == "pip install 'scipy<2,>=1.17' copyparty==1.20.26"
    # Another environment's pip is first on the path, or this one was made by uv and has none.
    monkeypatch.setenv("PATH", "/usr/bin")
    assert InstallOrigin(pip).command("tac") == f"{pip}/bin/pip install 'worksample[tac]'"
    bare = made_by(tmp_path / "bare", "bin/python")
    assert InstallOrigin(bare).command("tac") == f"uv pip install --python {bare}/bin/python 'worksample[tac]'"
    assert InstallOrigin(bare).package_command("openai") == f"uv pip install --python {bare}/bin/python openai"


def test_install_command_names_uvx_uv_tool_and_pipx(tmp_path: Path) -> None:
    wheel = tmp_path / "worksample.whl"
    wheel.touch()
    cache = made_by(tmp_path / "cache", "CACHEDIR.TAG")
    once = InstallOrigin(cache / "archive-v0/3N4N", str(wheel))
    assert once.is_temporary
    said = once.command("tac")
    assert said.startswith(f"uvx --from '{wheel}[") and "tac" in said and said.endswith("]' worksample ...")
    assert "--with openai" in once.package_command("openai")
    tool = InstallOrigin(made_by(tmp_path / "tools", "CACHEDIR.TAG", "uv-receipt.toml"), str(wheel))
    assert not tool.is_temporary
    assert tool.command("tac").startswith(f"uv tool install --force '{wheel}[")
    pipx = InstallOrigin(made_by(tmp_path / "pipx", "pipx_metadata.json"), str(wheel))
    assert pipx.package_command("openai") == "pipx inject worksample openai"


def test_missing_extras_are_named_together() -> None:
    program = "import sys\nfor name in ('scipy', 'copyparty'): sys.modules[name] = None\n"
    program += "from worksample.extras import need\nfrom worksample.errors import MissingExtra\n"
    program += "try: need('report', 'mcp', 'workplace')\nexcept MissingExtra as e: print(e, e.next, sep='\\n')"
    words = [sys.executable, "-c", program]
    said = subprocess.run(words, capture_output=True, text=True, check=True, env=clean_environment()).stdout
    assert "'report' and 'workplace' of worksample are needed, but not installed (scipy, copyparty)" in said
    assert "[report,workplace]" in said


def test_install_page_lists_every_extra() -> None:
    page = (ROOT / "docs/how-to/install.md").read_text()
    extras = {name: lines for name, lines in PROJECT["optional-dependencies"].items() if name not in ("dev", "docs")}
    listed = dict(re.findall(r"^\| `([\w-]+)` \| (\d+) \|", page, re.MULTILINE))
    assert set(listed) == set(extras) - {"all"}
    left_out = set(extras) - {"all"} - Requirement(extras["all"][0]).extras
    said = page[page.index("`[all]` holds every extra but") :].partition(";")[0]
    assert set(re.findall(r"`([\w-]+)`", said)) == left_out
    assert set(EXTRAS) <= set(extras)
