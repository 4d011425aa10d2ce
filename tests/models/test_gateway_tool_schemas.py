"""Tool schemas in every form that clients write, as the model gets them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.models.gateway.dialects.gemini import standard
from worksample.models.gateway.request import Refusal, build_tool
from worksample.models.gateway.schema_conversion import parameters_of, schema_of


def shape(schema: Any) -> dict[str, Any]:
    return schema_of(schema).model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (True, {}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"enum": ["a"], "type": "string", "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": 3}, {"enum": [3]}),
        ({"oneOf": [{"type": "string"}, True]}, {"anyOf": [{"type": "string"}, {}]}),
        ({"anyOf": [False, {"type": "string"}]}, {"anyOf": [{"type": "string"}]}),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, {"type": "string", "minLength": 1}),
        ({"type": "array", "items": True}, {"type": "array", "items": {}}),
        ({"type": "object", "additionalProperties": True}, {"type": "object", "additionalProperties": True}),
        ({"type": "string", "minLength": "2"}, {"type": "string", "minLength": 2}),
        ({"title": "T", "$schema": "x", "x-order": 1, "type": "null"}, {"type": "null"}),
        ({"minItems": 2, "description": "d"}, {"description": "d\nminItems: 2"}),
        ({"not": {"const": 1}}, {"description": 'not: {"const": 1}'}),
        ({"exclusiveMinimum": 0, "multipleOf": 5}, {"description": "exclusiveMinimum: 0\nmultipleOf: 5"}),
        ({"type": "file"}, {"description": 'type: "file"'}),
        ({"example": 1}, {"examples": [1]}),
    ],
)
def test_translated_schema_means_the_same(given: Any, passed: dict[str, Any]) -> None:
    assert shape(given) == passed


def test_property_may_be_anything_or_nothing() -> None:
    params, _ = parameters_of({"type": "object", "properties": {"c": True, "never": False}})
    assert list(params.properties) == ["c"]


def test_references_are_resolved() -> None:
    made = build_tool(
        "f", None, {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"const": 1}}}
    )
    assert made.parameters.properties["a"].enum == [1]


def test_property_names_stay_the_programs_own() -> None:
    names = {"$filter": {"type": "string"}, "oneOf": {"type": "string"}, "type": {"type": "integer"}}
    assert sorted(build_tool("f", None, {"type": "object", "properties": names}).parameters.properties) == sorted(names)


def test_object_without_properties_accepts_anything() -> None:
    params, _ = parameters_of({"type": "object"})
    assert params.additionalProperties is None
    assert parameters_of(None)[0].properties == {}
    assert parameters_of(True)[0].properties == {}


def test_choice_of_objects_shows_all_their_properties() -> None:
    one = {"properties": {"a": {"type": "string"}, "c": {}}, "required": ["a", "c"]}
    two = {"properties": {"b": {"type": "string"}, "c": {}}, "required": ["b", "c"]}
    made = build_tool("f", "Does", {"anyOf": [one, two]})
    assert sorted(made.parameters.properties) == ["a", "b", "c"]
    assert made.parameters.required == ["c"]
    assert '[["a", "c"], ["b", "c"]]' in made.description


@pytest.mark.parametrize("schema", [5, "x", [1], False, {"type": "array"}, {"properties": []}, {"type": 5}])
def test_non_object_schema_is_refused(schema: Any) -> None:
    with pytest.raises(Refusal, match="tool f"):
        build_tool("f", None, schema)


def test_googles_spellings_are_read_and_property_names_stay() -> None:
    own = {
        "type": "OBJECT",
        "properties": {"any_of": {"type": "STRING", "min_length": "2"}, "b": {"any_of": [{"type": "NUMBER"}]}},
        "property_ordering": ["b", "any_of"],
    }
    params, _ = parameters_of(standard(own))
    assert (params.properties["any_of"].type, params.properties["any_of"].minLength) == ("string", 2)
    assert [one.type for one in params.properties["b"].anyOf or ()] == ["number"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "properties", "items", "anyOf", "allOf", "const", "enum", "required", "nullable",
                         "description", "additionalProperties", "minLength", "a", "$ref", "prefixItems"]),
        inner | st.sampled_from(["object", "string", "#/a"]), max_size=5,
    ),
    max_leaves=15,
)  # fmt: skip


@given(JSON)
def test_any_json_is_a_schema_or_refused(value: Any) -> None:
    try:
        made = build_tool("f", None, value)
    except Refusal:
        return
    assert made.parameters.type == "object"
