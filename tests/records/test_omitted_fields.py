"""Later fields are omitted from the stored form while they have their default, so that old digests stay."""

from __future__ import annotations

import pytest

from worksample.records import Criteria, Environment, Frozen, Instance, Limits, Lock, Slot, Trial, Usage
from worksample.records.base import omittable

DIGESTS = [
    (Usage(), "c5b8ea6cb3fa6d7d0a3ff4c61f4c02b0e57bd0baa124fa4cd559ddb4b1d391a1"),
    (Environment(), "f1df2b78337bd2a363de753f79cd932720affce189072f6ebd665933916c9fe6"),
    (Limits(), "a4f08b5d5ddb906adacf68e547decb53052bcc95d2e78761b2b063d5dfe8bf4d"),
    (Criteria(), "bf9807cc9a583dfe45d17a28a2e6e567d511fd880cc6b6e64734e1ae8e57f2fa"),
]
OMITTED: list[tuple[type[Frozen], set[str]]] = [
    (Lock, {"chain", "hosts", "judged_by"}),
    (Slot, {"after"}),
    (Instance, {"shown_reference"}),
    (Trial, {"fed", "generation", "person_seconds"}),
    (
        Environment,
        {
            "accounts",
            "browser",
            "copied_inputs",
            "cores",
            "desktop",
            "endpoints",
            "gpu",
            "health",
            "image",
            "mcp",
            "memory",
            "os",
            "served",
            "skills",
            "start",
            "steps",
            "workplace",
        },
    ),
]


class Example(Frozen):
    name: str = "x"
    later: tuple[int, ...] = omittable(())
    count: int = omittable(0, ge=0)


@pytest.mark.parametrize(("value", "digest"), DIGESTS, ids=lambda value: type(value).__name__)
def test_default_digests_are_those_of_the_first_versions(value: Frozen, digest: str) -> None:
    assert value.digest == digest


@pytest.mark.parametrize(("kind", "names"), OMITTED, ids=lambda value: getattr(value, "__name__", ""))
def test_omitted_fields_are_listed(kind: type[Frozen], names: set[str]) -> None:
    assert {name for name, field in kind.model_fields.items() if field.exclude_if is not None} == names


def test_field_is_written_if_it_differs_from_its_default() -> None:
    assert Example().plain() == {"name": "x"}
    assert Example(later=(1,), count=2).plain() == {"name": "x", "later": [1], "count": 2}
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        Example(count=-1)
