"""Conversion of programs' JSON schemas to the form that Inspect accepts.

Inspect's schemas support fewer keywords than clients write. Some keywords are rewritten to equivalent ones (`const`,
`oneOf`, `nullable`, `true`). Other constraints are added to the description that the model reads. Only titles and
annotations for programs (`$schema`, `x-...`) are removed without a trace.
"""

from __future__ import annotations

import json
from typing import Any

from inspect_ai.tool import ToolParams
from inspect_ai.util import JSONSchema

TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
KEPT = frozenset(
    {"description", "default", "format", "enum", "required", "pattern", "minLength", "maxLength", "minimum", "maximum",
     "examples"}
)  # fmt: skip
"""Schema keywords that are passed on unchanged."""
COUNTED = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
"""Schema keywords whose values are numbers. Some clients write these numbers as text."""
MARKS = frozenset({"title", "definitions", "propertyOrdering"})
_LONGEST = 500


def parameters_of(schema: Any) -> tuple[ToolParams, str]:
    """Return the parameters of a tool, and a text with the constraints that Inspect's schema cannot express. Raises
    ValueError if the schema is invalid.
    """
    shaped = _with_shape({} if schema is None or schema is True else schema)
    types = shaped.get("type", "object")
    if shaped.get("not") is False or "object" not in (types if isinstance(types, list) else [types]):
        raise ValueError("the tool's parameters are not a JSON schema of an object")
    said = [shaped["description"]] if isinstance(shaped.get("description"), str) else []
    properties, required = dict(shaped.get("properties", {})), list(shaped.get("required", ()))
    branches = shaped.get("anyOf", ())
    for branch in branches:
        properties = {**branch.get("properties", {}), **properties}
    if branches:
        said.append(
            "Give one of these sets of parameters: " + _text([sorted(b.get("properties", ())) for b in branches])
        )
        common = set.intersection(*(set(b.get("required", ())) for b in branches))
        required += sorted(common - set(required))
    params = ToolParams.model_validate(
        {
            "properties": properties,
            "required": required,
            "additionalProperties": shaped.get("additionalProperties"),
        }
    )
    return params, "\n".join(said)


def schema_of(schema: Any) -> JSONSchema:
    """Convert a JSON schema to Inspect's form. Raises ValueError if the schema is invalid."""
    return JSONSchema.model_validate(_with_shape(schema))


def _with_shape(node: Any) -> dict[str, Any]:
    if node is True or node is None:
        return {}
    if node is False:
        return {"not": False}
    if not isinstance(node, dict):
        raise ValueError(f"a JSON schema must be an object, not {type(node).__name__}")
    node = _merge_all_of(node)
    out: dict[str, Any] = {}
    more: list[str] = []
    for key, value in node.items():
        if key in KEPT:
            out[key] = value
        elif key == "const":
            out["enum"] = [value]
        elif key == "example":
            out.setdefault("examples", [value])
        elif key not in _READERS and key not in MARKS and not key.startswith(("$", "x-")) and value is not None:
            more.append(f"{key}: {_text(value)}")
        if key in COUNTED and isinstance(value, str) and value.isascii() and value.isdigit() and key in out:
            out[key] = int(value[:18])
    if not _strings(out.get("required", [])):
        more.append(f"required: {_text(out.pop('required'))}")
    for key, read in _READERS.items():
        if node.get(key) is not None:
            read(node[key], out, more)
    if not isinstance(out.get("description", ""), str):
        raise ValueError("a schema's description is not text")
    if more:
        out["description"] = "\n".join([*filter(None, [out.get("description")]), *more])
    return out


def _merge_all_of(node: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in which all schemas under `allOf` are merged into the schema itself."""
    parts = node.get("allOf")
    if not isinstance(parts, list):
        return node
    out: dict[str, Any] = {key: value for key, value in node.items() if key != "allOf"}
    for part in parts:
        if not isinstance(part, dict):
            continue
        for key, value in _merge_all_of(part).items():
            held = out.get(key)
            if isinstance(held, dict) and isinstance(value, dict):
                out[key] = {**value, **held}
            elif key == "required" and isinstance(held, list) and isinstance(value, list):
                out[key] = [*held, *(name for name in value if name not in held)]
            else:
                out.setdefault(key, value)
    return out


def _type(value: Any, out: dict[str, Any], more: list[str]) -> None:
    given = value if isinstance(value, list) else [value]
    if not _strings(given):
        raise ValueError(f"a schema has the unknown type {_text(value)}")
    known = list(dict.fromkeys(one.lower() for one in given if one.lower() in TYPES))
    if len(known) < len(set(given)):
        more.append(f"type: {_text(value)}")
    if known:
        out["type"] = known[0] if len(known) == 1 else known


def _properties(value: Any, out: dict[str, Any], more: list[str]) -> None:
    if not isinstance(value, dict):
        raise ValueError("a schema's properties are not an object")
    shaped = {name: _with_shape(one) for name, one in value.items()}
    out["properties"] = {name: one for name, one in shaped.items() if one.get("not") is not False}
    never = sorted(set(shaped) - set(out["properties"]))
    if never:
        more.append(f"never given: {_text(never)}")


def _items(value: Any, out: dict[str, Any], more: list[str]) -> None:
    if isinstance(value, list):
        more.append(f"items, in this order: {_text(value)}")
        out["items"] = {"anyOf": [_with_shape(one) for one in value]} if value else {}
    elif value is False:
        more.append("no items beyond these")
    else:
        out["items"] = _with_shape(value)


def _more(value: Any, out: dict[str, Any], more: list[str]) -> None:
    out["additionalProperties"] = value if isinstance(value, bool) else _with_shape(value)


def _any(value: Any, out: dict[str, Any], more: list[str]) -> None:
    if not isinstance(value, list):
        raise ValueError("anyOf and oneOf must be lists of schemas")
    branches = [one for one in map(_with_shape, value) if one.get("not") is not False]
    if branches and "anyOf" not in out:
        out["anyOf"] = branches
    elif branches:
        more.append(f"also one of: {_text(value)}")


def _nullable(value: Any, out: dict[str, Any], more: list[str]) -> None:
    if value is not True:
        return
    if "type" in out:
        types = out["type"] if isinstance(out["type"], list) else [out["type"]]
        out["type"] = list(dict.fromkeys([*types, "null"]))
    elif "anyOf" in out:
        out["anyOf"] = [*out["anyOf"], {"type": "null"}]
    if isinstance(out.get("enum"), list) and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]


_READERS = {
    "type": _type,
    "properties": _properties,
    "prefixItems": _items,
    "items": _items,
    "additionalProperties": _more,
    "anyOf": _any,
    "oneOf": _any,
    "nullable": _nullable,
}


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
