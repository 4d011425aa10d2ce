"""Instructions of judges are part of the judges' version."""

from __future__ import annotations

from worksample.grading.judges import protocol_questions as protocols
from worksample.models.judge_config import RENDERING
from worksample.records import digest_of


def test_new_instructions_raise_the_version_of_judges() -> None:
    texts = [
        protocols.HOLDS, protocols.PITFALL, protocols.MEANING, protocols.INSTRUCTION, protocols.COMPLETION,
        protocols.QUALITY,
    ]  # fmt: skip
    assert (RENDERING, digest_of(texts)[:16]) == ("4", "d73eaf9e85812e7a"), (
        "raise RENDERING in models/judge_config.py, then this"
    )
