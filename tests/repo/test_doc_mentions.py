"""Names, paths, commands and links in docs and docstrings exist (tools/check_mentions.py)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "check_mentions.py"


@pytest.fixture(scope="module")
def mentions():
    spec = importlib.util.spec_from_file_location("check_mentions", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.long(seconds=20)
def test_everything_mentioned_in_docs_and_docstrings_exists() -> None:
    # In a process of its own, which keeps none of the trees that it reads.
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[a](gone.md)", "no such file"),
        ("[a](explanation/faq.md#gone)", "no such heading"),
        ("see `docs/gone.md`", "no such path"),
        ("see `runs/gone_for_good.py`", "no file ends so"),
        ("see `runs/gone_for_good`", "no such module"),
        ("see `worksample.runs.gone_for_good`", "no such module or name"),
        ("see `kit.gone_for_good`", "no such module or name in worksample.kit"),
        ("a `GoneForGood`", "nothing is called GoneForGood"),
        ("a `Store.gone_for_good`", "nothing is called gone_for_good"),
        ("type `worksample fly`", "no verb fly"),
        ("type `worksample run --fly`", "--fly"),
        ("```console\n$ worksample compare\n```", "it needs"),
        ("```console\n$ worksample resume one two three\n```", "too many"),
        ("type `./dev fly`", "dev has no command fly"),
        ("type `python -m benchmarks.fly`", "no module benchmarks.fly"),
        ("type `python tools/fly.py`", "no file tools/fly.py"),
    ],
)
def test_missing_mention_is_a_fault_with_its_line(mentions, text: str, says: str) -> None:
    found = list(mentions.faults(mentions.Text(ROOT / "docs" / "index.md", 1, f"First.\n\n{text}\n")))
    assert found and all(fault.startswith("docs/index.md:3: ") for fault in found)
    assert any(says in fault for fault in found), found


def test_existing_mention_is_no_fault(mentions) -> None:
    text = (
        "[a](index.md) [b](https://example.org/x) [c](changelog.md), `Store`, `Store.commit`, `docs/index.md`"
        ", `worksample run --suite starter`, `./dev test`, `python -m benchmarks.coverage`\n"
        "```console\n$ worksample run --suite starter --agent good && worksample report\n```\n"
    )
    assert list(mentions.faults(mentions.Text(ROOT / "docs" / "index.md", 1, text))) == []
