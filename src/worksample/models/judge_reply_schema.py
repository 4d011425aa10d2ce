"""The JSON schema of a judge's answer, for services that can enforce a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .judge_probe import Probe, ProbeKind
from .judge_reply import SIDES

if TYPE_CHECKING:
    from inspect_ai.model import ResponseSchema

STRUCTURED = frozenset(
    {
        "anthropic", "bedrock", "deepseek", "fireworks", "google", "grok", "groq", "mistral", "moonshot", "ollama",
        "openai", "openai-api", "openrouter", "perplexity", "sagemaker", "sambanova", "sglang", "together", "vllm",
    }
)  # fmt: skip
"""Inspect's providers that pass the schema of an answer on to their service. The service itself may still refuse the
schema.
"""
_TEXT = {"type": "string"}
_YES_NO = {"type": "string", "enum": ["yes", "no"]}


def supports_schema(model: str) -> bool:
    """Return whether the provider of a model (`provider/model`) passes the schema of an answer on to its service."""
    return model.partition("/")[0] in STRUCTURED


def response_schema(probe: Probe) -> ResponseSchema:
    """Return the strict schema of the answer to a probe: all keys are required, and other keys are forbidden."""
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    return ResponseSchema(
        name=f"{probe.kind.value}_answer", json_schema=JSONSchema.model_validate(schema_of(probe)), strict=True
    )


def schema_of(probe: Probe) -> dict[str, Any]:
    """Return the schema of the answer to a probe as plain JSON types."""
    evidence = {"exhibit": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "quote": _TEXT} if probe.quotes else {}
    inspected = {"inspected": _YES_NO} if probe.asks_inspected else {}
    if probe.kind is ProbeKind.CHECKLIST:
        item = _object({"answer": _YES_NO, **evidence})
        return _object({"items": _object(dict.fromkeys(probe.items, item)), "reason": _TEXT, **inspected})
    answer: dict[str, Any]
    if probe.kind is ProbeKind.FIELDS:
        answer = {"fields": _object({name: dict(schema) for name, schema in probe.fields.items()})}
    elif probe.kind is ProbeKind.YES_NO:
        answer = {"answer": _YES_NO}
    else:
        options = SIDES if probe.kind is ProbeKind.PAIR else probe.options
        answer = {"answer": {"type": "string", "enum": list(options)}}
    return _object({**answer, "reason": _TEXT, **evidence, **inspected})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
