"""An agent of the plainest kind: it speaks one provider's dialect with urllib, runs one tool, and ends."""

import json
import os
import pathlib
import sys
import urllib.request

OUTPUT, MODEL = sys.argv[1:3]
DIALECT, STREAM = os.environ["DIALECT"], bool(os.environ.get("STREAM"))
SCHEMA = {
    "type": "object",
    "properties": {"path": {"$ref": "#/$defs/text"}, "text": {"type": "string"}},
    "required": ["path", "text"],
    "$defs": {"text": {"type": "string"}},
}
SYSTEM, TASK = "You write files.", os.environ.get("TASK", "Write hello.txt.")


def post(url, body, **headers):
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
    if not STREAM:
        return json.loads(text)
    found = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(one) for one in found if one != "[DONE]"]


def act(arguments):
    (pathlib.Path(OUTPUT) / arguments["path"]).write_text(arguments["text"])
    return "written"


def chat():
    tools = [{"type": "function", "function": {"name": "write", "description": "Writes", "parameters": SCHEMA}}]
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
    while True:
        body = {"model": MODEL, "messages": messages, "tools": tools, "stream": STREAM}
        answer = post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)
        if STREAM:
            message = {"role": "assistant", "content": "", "tool_calls": []}
            for delta in (one["choices"][0]["delta"] for one in answer if one["choices"]):
                message["content"] += delta.get("content") or ""
                message["tool_calls"] += delta.get("tool_calls", [])
        else:
            message = answer["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        for call in message["tool_calls"]:
            said = act(json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})


def responses():
    tools = [{"type": "function", "name": "write", "description": "Writes", "parameters": SCHEMA}]
    items = [{"role": "user", "content": [{"type": "input_text", "text": TASK}]}]
    while True:
        body = {"model": MODEL, "instructions": SYSTEM, "input": items, "tools": tools, "stream": STREAM}
        answer = post(os.environ["OPENAI_BASE_URL"] + "/responses", body)
        if STREAM:
            answer = answer[-1]["response"]
        items += answer["output"]
        called = [item for item in answer["output"] if item["type"] == "function_call"]
        if not called:
            return answer["output"][-1]["content"][0]["text"]
        for call in called:
            said = act(json.loads(call["arguments"]))
            items.append({"type": "function_call_output", "call_id": call["call_id"], "output": said})


def messages():
    tools = [{"name": "write", "description": "Writes", "input_schema": SCHEMA}]
    turns = [{"role": "user", "content": TASK}]
    while True:
        body = {"model": MODEL, "max_tokens": 1000, "system": [{"type": "text", "text": SYSTEM}], "messages": turns}
        url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true"
        answer = post(url, {**body, "tools": tools, "stream": STREAM}, **{"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
        if STREAM:
            blocks = []
            for one in answer:
                if one["type"] == "content_block_start":
                    blocks.append(one["content_block"] | {"json": ""})
                elif one["type"] == "content_block_delta":
                    blocks[-1]["json"] += one["delta"].get("partial_json", "")
                    if "text" in one["delta"]:
                        blocks[-1]["text"] += one["delta"]["text"]
            for block in blocks:
                given = block.pop("json")
                if block["type"] == "tool_use":
                    block["input"] = json.loads(given)
        else:
            blocks = answer["content"]
        turns.append({"role": "assistant", "content": blocks})
        called = [block for block in blocks if block["type"] == "tool_use"]
        if not called:
            return blocks[-1]["text"]
        results = [{"type": "tool_result", "tool_use_id": c["id"], "content": act(c["input"])} for c in called]
        turns.append({"role": "user", "content": results})


def gemini():
    tools = [{"functionDeclarations": [{"name": "write", "description": "Writes", "parametersJsonSchema": SCHEMA}]}]
    turns = [{"role": "user", "parts": [{"text": TASK}]}]
    verb = "streamGenerateContent?alt=sse" if STREAM else "generateContent"
    while True:
        body = {"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": turns, "tools": tools}
        answer = post(f"{os.environ['GOOGLE_GEMINI_BASE_URL']}/v1beta/models/{MODEL}:{verb}", body)
        content = (answer[0] if STREAM else answer)["candidates"][0]["content"]
        turns.append(content)
        called = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        if not called:
            return content["parts"][-1]["text"]
        parts = [{"functionResponse": {"name": c["name"], "response": {"output": act(c["args"])}}} for c in called]
        turns.append({"role": "user", "parts": parts})


print({"chat": chat, "responses": responses, "messages": messages, "gemini": gemini}[DIALECT]())
print("the program ends")
