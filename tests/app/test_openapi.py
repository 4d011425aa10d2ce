"""The API's schema, from which the typed client is generated: exact, named, complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.sites import schema
from forking.child import ended

GOLDEN = Path(__file__).parent / "operations.txt"
AGREED = [tuple(line.split()[1:3]) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, operation)
        for path, methods in schema()["paths"].items()
        for method, operation in methods.items()
    ]


def test_operations_are_the_agreed_ones() -> None:
    """To agree on others, write what is printed into operations.txt, and make the client anew."""
    lines = []
    for method, path, operation in sorted(operations(), key=lambda o: (o[1], o[0])):
        statuses = " ".join(sorted(operation["responses"]))
        lines.append(f"{operation['operationId']:18} {method:6} {path}  {statuses}")
    found = "\n".join(lines) + "\n"
    assert found == GOLDEN.read_text(), found


@pytest.mark.parametrize(("method", "path"), AGREED)
def test_every_operation_is_described(method: str, path: str) -> None:
    operation = schema()["paths"][path][method.lower()]
    assert str(operation["operationId"]).isidentifier() and operation["summary"] and operation["description"]
    responses: dict[str, dict[str, dict[str, dict[str, dict[str, str]]]]] = operation["responses"]
    good = [status for status in responses if status < "300"]
    assert good
    for status, response in responses.items():
        body = response.get("content", {}).get("application/json", {}).get("schema")
        if status >= "400":
            assert body == {"$ref": "#/components/schemas/Failed"}, (status, body)
        elif status == "204":
            assert body is None
        else:
            assert body or response.get("content"), f"{status} has no model"
            assert body != {}, f"{status} may be anything"
    entrance = path in ("/api/v1/session", "/api/v1/session/link", "/api/v1/invitations/accept") and method == "POST"
    if not entrance and path != "/api/v1/invitations/{token}":
        assert "401" in responses
        assert method == "GET" or "403" in responses


def test_schema_names_are_unique_and_strict() -> None:
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names)
    for name, shape in schema()["components"]["schemas"].items():
        assert "-Input" not in name and "-Output" not in name, name
        if shape.get("type") == "object" and "additionalProperties" not in shape and "properties" in shape:
            missing = set(shape["properties"]) - set(shape.get("required", ()))
            assert not missing, f"{name}: the client could not rely on {missing}"


def test_printed_schema_equals_served_schema(tmp_path: Path) -> None:
    done = ended("worksample.app.openapi", cwd=tmp_path)
    assert json.loads(done.stdout) == json.loads(json.dumps(schema())) and not done.stderr
