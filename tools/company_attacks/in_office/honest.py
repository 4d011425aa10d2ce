# ruff: noqa: E501, F821
# Appended to the scripts' own office.py: right work, done in another way. `VARIED` is a set of kinds of honest variation.
import contextlib
import re as _re

_plain_ask, _seen_twice = ask, set()
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def _worded(text):
    """A text of a message, a comment or an issue as somebody else would put it."""
    if "words" in VARIED:
        alone = r"(?<![\w.,:#+*/-])(\d|1[0-2])(?= (?!h\b|am|pm|%|per|litres|EUR|April|March|February|January|December)[a-z])"
        text = _re.sub(alone, lambda found: _WORDS[int(found[1])], text)
    if "digits" in VARIED:
        text = _re.sub(r"\b(two|three|four|five|six|seven|eight|nine|ten)\b", lambda f: str(_WORDS.index(f[1])), text)
    if "thousands" in VARIED:
        text = _re.sub(r"(?<![\w.,-])(\d{1,3})(\d{3})\.(\d\d)(?!\d)", r"\1,\2.\3", text)
    if "bold" in VARIED:
        text = _re.sub(r"(?<![\w.,:#+*/@-])(\d+(?:[.,:]\d+)*)(?![\w-]|[.,:]\d)", r"**\1**", text)
    if "lines" in VARIED:
        text = _re.sub(r"(?<=[a-z)%])([.;]) (?=[A-Z])", r"\1\n", text)
    if "polite" in VARIED:
        text = f"Good morning! {text}\n\nKind regards\nJules"
    if "offer" in VARIED and "?" not in text:
        text = f"{text}{'' if text.rstrip()[-1:] in '.!' else '.'} Is there anything else that you need?"
    return text


def _changed(url, data, method):
    if isinstance(data, dict) and isinstance(data.get("text"), str) and url.startswith(CHAT):
        return {**data, "text": _worded(data["text"])}
    if isinstance(data, dict) and isinstance(data.get("issue"), dict):
        words = {key: _worded(data["issue"][key]) for key in ("notes",) if data["issue"].get(key)}
        return {**data, "issue": {**data["issue"], **words}}
    if isinstance(data, bytes) and method == "PUT" and url.endswith(".csv") and "sheet" in VARIED:
        return "\ufeff".encode() + data.removeprefix("\ufeff".encode()).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return data


def ask(url, data=None, method=None, kind="application/json"):
    once = (url, method) not in _seen_twice
    if once and method == "PUT" and url.startswith(FILES) and "draft" in VARIED:
        _seen_twice.add((url, method))
        try:
            before = _plain_ask(url)
        except OSError:
            before = b"draft\n"
        _plain_ask(url, before, method, kind)
    if once and isinstance(data, dict) and (data.get("issue") or {}).get("notes") and "draft" in VARIED:
        _seen_twice.add((url, method))
        _plain_ask(url, {"issue": {"notes": "I am looking into this today."}}, "PUT")
    return _plain_ask(url, _changed(url, data, method), method, kind)


if "settles" in VARIED:
    for _room in ("random", "general"):
        _plain_ask(f"{CHAT}/api/rooms/{_room}", {"text": "Good morning, I am Jules and new here. See you at lunch!"})
    with contextlib.suppress(OSError):  # a task need not have files
        put("drafts/jules/todo.txt", "read the handbook; ask for a key; lunch at 12\n")
