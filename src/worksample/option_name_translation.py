"""Translate options of the command line to arguments of the Python API, in errors that Python users read."""

from __future__ import annotations

import re

SETTINGS = {
    "agent": "agent={}",
    "author": "author={}",
    "base-url": 'services={{"MODEL": {{"base_url": {}}}}}',
    "expect": "expect={}",
    "experiment": "experiment={}",
    "encoding": "encoding={}",
    "graders": "graders={}",
    "judged-by": "judged_by={}",
    "limit-cost": 'limits={{"cost": {}}}',
    "limit-steps": 'limits={{"steps": {}}}',
    "limit-time": 'limits={{"time": {}}}',
    "limit-tokens": 'limits={{"tokens": {}}}',
    "model": "model={}",
    "name": "name={}",
    "no-check-models": "check_models=False",
    "only": "only=[{}]",
    "parallel": "parallel={}",
    "pay": 'people={{"pay": {}}}',
    "price": 'prices={{"MODEL": {{"input": ..., "output": ...}}}}',
    "protocol": "protocol={}",
    "repeats": "repeats={}",
    "sandbox": "sandbox={}",
    "script": "script={}",
    "seed": "seed={}",
    "store": "store={}",
    "suite": "tasks={}",
    "task": "tasks={}",
    "tries": "tries={}",
    "unsandboxed": 'sandbox="none"',
    "where": "where=[{}]",
}
"""Option -> the argument of `worksample.run` and its siblings; `{}` is the value."""
_COMMAND = r"(?:worksample|pip|apt-get|skopeo|curl|docker|inspect|python3?)\s[^;()]*"
_VALUE = r"[A-Z][A-Z/_]*[A-Z]\b|[a-z]+[=/][\w/:.-]+|bubblewrap\b|docker\b|none\b|worker\b|combined\b|\d[\d.]*"
_OPTION = re.compile(
    rf"(?P<command>{_COMMAND})|(?P<price>--price(?: [^\s,]+=[^\s]+)?)"
    rf"|(?<![\w-])--(?P<name>[a-z][a-z-]*)(?:[ =](?P<value>{_VALUE}))?(?P<then> (?=--))?"
)


_CALL = re.compile(
    r"worksample (?P<verb>run|resume|report|grade|task check|list)(?: (?P<target>(?!-)[^\s,;()]+))?"
    r"(?P<options>(?: --[a-z][a-z-]*(?: (?!-)[^\s,;()]+)?)*)(?=$|[,;)\n]| or | and )"
)
"""A whole command with at most one target; prose after a command name does not match."""
_FUNCTIONS = {"run": "run", "resume": "resume", "report": "report", "grade": "grade", "task check": "check"}


def with_python_arguments(text: str) -> str:
    """Replace options in a text by arguments: `limits={"cost": ...}` for `--limit-cost`. Whole commands stay."""
    if "worksample " in text:
        text = _CALL.sub(_call, text)
    return _OPTION.sub(_argument, text) if "--" in text else text


def _call(found: re.Match[str]) -> str:
    words = found["options"].split()
    given: list[str] = []
    if found["target"]:
        given.append(f'file="{found["target"]}"' if found["verb"] == "run" else f'"{found["target"]}"')
    store = ""
    while words:
        name = words.pop(0).removeprefix("--")
        value = words.pop(0) if words and not words[0].startswith("--") else None
        form = {"out": "out={}", "reason": "reason={}"}.get(name) or SETTINGS.get(name)
        if form is None:
            return found[0]
        store = _literal(value) if name == "store" else store
        given.append(form.format(_literal(value)))
    if found["verb"] == "list":
        plain = len(given) == bool(store) and not found["target"]
        return f"worksample.open_store({store}).find(worksample.Experiment)" if plain else found[0]
    return f"worksample.{_FUNCTIONS[found['verb']]}({', '.join(given)})"


def _literal(value: str | None) -> str:
    """Return an option's value as a Python literal; `...` if the text names no value."""
    if value is None or value == "...":
        return "..."
    return value if value[0].isdigit() else f'"{value}"'


def _argument(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if found["price"]:
        return SETTINGS["price"].format()
    if found["command"] or name not in SETTINGS:
        return found[0]
    return SETTINGS[name].format(_literal(value)) + (", " if found["then"] else "")
