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


def with_python_arguments(text: str) -> str:
    """Replace options in a text by arguments: `limits={"cost": ...}` for `--limit-cost`. Whole commands stay."""
    return _OPTION.sub(_argument, text) if "--" in text else text


def _argument(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if found["price"]:
        return SETTINGS["price"].format()
    if found["command"] or name not in SETTINGS:
        return found[0]
    shown = "..." if value is None else value if value[0].isdigit() else f'"{value}"'
    return SETTINGS[name].format(shown) + (", " if found["then"] else "")
