"""Python in a box: common libraries for agents without the platform, and the full environment for graders."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from worksample.box import BoxConfig
from worksample.sandboxes import open_box
from worksample.sandboxes.python_toolbox import OFFERED, base_python, distributions, toolbox_folder

pytestmark = pytest.mark.box

IMPORTS = "import numpy, polars, openpyxl, PIL, matplotlib.pyplot, defusedxml, IPython"


@pytest.mark.quick("words1")
@pytest.mark.parametrize("words", [["python3", "-c"], ["bash", "-lc"], ["sh", "-c"]])
async def test_agents_have_common_libraries(words: list[str]) -> None:
    draw = f"{IMPORTS}; matplotlib.pyplot.plot([1, 2]); matplotlib.pyplot.savefig('/task/output/a.png'); print(6 * 7)"
    command = draw if words[0] == "python3" else f'python -c "{draw}"'
    async with open_box(BoxConfig()) as box:
        done = await box.run([*words, command])
        assert done.stdout == b"42\n", done.stderr
        assert (await box.read("/task/output/a.png", 1 << 20)).startswith(b"\x89PNG")
        assert (await box.run(["ipython", "-c", "print(2 + 2)"])).stdout.endswith(b"4\n")


async def test_agents_have_only_the_toolboxs_libraries() -> None:
    code = "import importlib.metadata as m; print(*sorted({d.metadata['Name'].lower() for d in m.distributions()}))"
    async with open_box(BoxConfig()) as box:
        names = (await box.run(["python3", "-c", code])).stdout.decode().split()
    assert set(OFFERED) <= set(names)
    assert set(names) == {distribution.metadata["Name"].lower() for distribution in distributions()}
    assert not {"worksample", "inspect-ai", "inspect_ai", "inspect-evals", "inspect_evals", "pytest"} & set(names)


async def test_agents_base_interpreter_has_no_libraries() -> None:
    async with open_box(BoxConfig()) as box:
        done = await box.run(
            [str(base_python()), "-c", "import importlib.metadata as m; print(len(list(m.distributions())))"]
        )
        assert done.stdout == b"0\n", done.stderr


async def test_box_without_python_has_neither_toolbox_nor_platform() -> None:
    async with open_box(BoxConfig(python="none")) as box:
        assert (await box.run(["ls", "/opt/worksample"])).returncode != 0
        done = await box.run([str(base_python()), "-c", "import numpy"])
        assert done.returncode != 0


async def test_graders_have_the_platform() -> None:
    code = "import worksample, numpy; from worksample.errors import Cause; print(Cause.GRADER_CRASH)"
    async with open_box(BoxConfig(python="platform")) as box:
        for python in ("python", "python3"):
            assert (await box.run([python, "-c", code])).stdout == b"grader.crash\n"
        assert (await box.run(["python", "-c", "import os; print(os.getuid() == 0)"])).stdout == b"False\n"


MAKE = """
import os, sys
from pathlib import Path
from worksample.sandboxes.shared_folders import make_once

def fill(fresh):
    for number in range(300):
        (fresh / str(number)).write_text(str(os.getpid()))

print(len(list(make_once(Path(sys.argv[1]), fill).iterdir())))
"""


def test_shared_folder_is_created_once_by_concurrent_processes(tmp_path: Path) -> None:
    words = [sys.executable, "-c", MAKE, str(tmp_path / "shared")]
    makers = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(8)]
    assert [maker.communicate()[0] for maker in makers] == [b"300\n"] * 8
    assert len({path.read_text() for path in (tmp_path / "shared").iterdir()}) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".shared.lock", "shared"]


def test_toolbox_has_every_file_of_its_distributions() -> None:
    packages = next(toolbox_folder().glob("lib/python3*/site-packages"))
    for name in OFFERED:
        files = importlib.metadata.distribution(name).files or []
        modules = [file for file in files if str(file).endswith(".py") and not str(file).startswith("..")]
        assert modules and all((packages / str(file)).is_file() for file in modules)
