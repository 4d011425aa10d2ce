"""Small files that would take their reader long: each is refused, or read, within two seconds of processor time."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from worksample.errors import ManifestError
from worksample.files.config_files import Faults, UnreadableFile, load, nearest, read_toml, read_yaml
from worksample.tasks import read_package

SECONDS = 2.0
"""Of processor time, which a busy machine does not lengthen."""
GREETING = Path(__file__).parents[2] / "suites" / "tiny" / "tasks" / "greeting"


def merges(times: int, lines: int) -> str:
    names = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * times)}]}}" for n in range(1, lines)]
    return "\n".join(["a0: &a0 {x: 1}", *names]) + "\n"


REFUSED = {
    "steps of a key.toml": ".".join(["a"] * 50_000) + " = 1\n",
    "quoted steps.toml": ".".join(['"a b"'] * 50_000) + " = 1\n",
    "steps of a header.toml": "x = 1\n[" + " . ".join(["a"] * 50_000) + "]\n",
    "deep.toml": "a = " + "[" * 900 + "]" * 900,
    "digits.toml": "a = " + "1" * 100_000,
    "laughs.yaml": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "merged keys.yaml": "a: &a {" + ",".join(f"k{n}: 1" for n in range(1000)) + "}\nb: {<<: [" + "*a," * 2000 + "]}\n",
    "base 60.yaml": "a: 1" + ":59" * 100_000,
    "base 60 and a part.yaml": "a: 1" + ":59" * 20_000 + ".5",
    "open brackets.yaml": "{" * 100_000,
}
READ = {
    # Of PyYAML before 6.0.4 these have to be refused: it merged each mapping as often as it was named.
    "merges.yaml": merges(8, 10),
    "merges by two.yaml": merges(2, 26),
    "dots in a text.toml": "a = '" + "b." * 100_000 + "'\n",
    "a long word.toml": "a" * 500_000 + " = 1\n",
    "quotes.toml": "a = '" + '"' * 500_000 + "'\n",
    "steps within limits.toml": "".join(".".join(["k"] * 30) + f".x{n} = 1\n" for n in range(10_000)),
    "many keys.yaml": "".join(f"k{n}: 1\n" for n in range(50_000)),
    "a merge.yaml": "base: &base {a: 1}\nother: {<<: *base, b: 2}\n",
}


def spent(began: float) -> float:
    return time.process_time() - began


@pytest.mark.parametrize("name", REFUSED)
def test_bomb_is_refused_in_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(REFUSED[name], encoding="utf-8")
    faults, began = Faults(), time.process_time()
    document = (read_toml if path.suffix == ".toml" else read_yaml)(path, name, faults)
    assert spent(began) < SECONDS
    assert document.broken
    assert len(str(faults.found[0])) < 500
    with pytest.raises(UnreadableFile):
        load(path)


@pytest.mark.parametrize("name", READ)
def test_large_file_is_read_in_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(READ[name], encoding="utf-8")
    faults, began = Faults(), time.process_time()
    (read_toml if path.suffix == ".toml" else read_yaml)(path, name, faults)
    assert spent(began) < SECONDS
    assert not faults.found


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"titel{n} = 1\n" for n in range(50_000)),
        "".join(f'[[instance]]\nname = "n{n}"\ntitel = 1\n' for n in range(20_000)),
        "".join(f'[deliverables."a{n}"]\nformat = "csv"\nrequird = true\n' for n in range(20_000)),
    ],
    ids=["unknown keys", "instances", "deliverables"],
)
def test_package_with_many_faults_is_refused_in_time(text: str, tmp_path: Path) -> None:
    package = tmp_path / "greeting"
    shutil.copytree(GREETING, package)
    began = time.process_time()
    (package / "task.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError) as refused:
        read_package(package)
    assert spent(began) < SECONDS
    assert len(str(refused.value)) < 200_000


def test_suggestions_end_when_their_time_is_spent() -> None:
    Faults()
    words, began = [f"{'word' * 20}{n}" for n in range(2000)], time.process_time()
    found = [nearest(word[1:], words) for word in words]
    assert spent(began) < SECONDS
    assert found[-1] == ""
