"""Write the tables of docs/settings.md from the configuration's docstrings. `--check` fails where they are stale."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "settings.md"
CONFIG = ROOT / "src" / "worksample" / "experiments" / "config.py"
CALIBRATION = ROOT / "src" / "worksample" / "results" / "calibration" / "config.py"
PRICE = ROOT / "src" / "worksample" / "models" / "price.py"
SERVICES = ROOT / "src" / "worksample" / "models" / "service_config.py"
APP = ROOT / "src" / "worksample" / "app" / "config.py"
TABLES = {
    "experiment": (CONFIG, "ExperimentConfig"),
    "agents": (CONFIG, "AgentConfig"),
    "arms": (CONFIG, "ArmConfig"),
    "chain": (CONFIG, "ChainConfig"),
    "limits": (CONFIG, "LimitsConfig"),
    "people": (CONFIG, "PeopleConfig"),
    "calibration": (CALIBRATION, "CalibrationConfig"),
    "prices": (PRICE, "Price"),
    "services": (SERVICES, "ServiceConfig"),
    "app": (APP, "AppConfig"),
}


def fields(path: Path, cls: str) -> list[tuple[str, str, str, str]]:
    """Name, type, default and docstring of each field of a class. ValueError for a field without docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls)
    rows = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
            raise ValueError(f"{cls}.{node.target.id} has no docstring")
        says = " ".join(str(after.value.value).split())
        default = "" if "by default" in says else _default(node.value)
        rows.append((node.target.id, ast.unparse(node.annotation), default, says))
    return rows


def _default(value: ast.expr | None) -> str:
    if value is None:
        return "required"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Field":
        given = {k.arg: k.value for k in value.keywords}
        if "default" in given:
            return _default(given["default"])
        return "required"
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.LShift):
        return f"`{ast.literal_eval(value.left) << ast.literal_eval(value.right)}`"
    text = ast.unparse(value)
    if text in ("None", "()", "{}") or text.endswith("Config()"):
        return ""
    if isinstance(value, ast.Attribute):
        return f"`{value.attr.lower()}`"
    if "ArmConfig" in text:
        return "one, `plain`"
    return f"`{text.strip(chr(39))}`"


def table(rows: list[tuple[str, str, str, str]]) -> str:
    """As Markdown."""
    names = {
        "Name": "name",
        "Seconds": "seconds",
        "Protocol": "text",
        "Sandbox": "text",
        "Feedback": "text",
        "ShownRubric": "text",
        "ChainConfig": "table",
        "JudgedBy": "text",
        "Stratum": "text",
        "str": "text",
        "int": "integer",
        "float": "number",
    }
    lines = ["| key | type | default | |", "|---|---|---|---|"]
    for name, kind, default, says in rows:
        kind = (
            kind.replace(" | None", "")
            .replace("dict[str, Any]", "table")
            .replace("dict[str, Price]", "table of tables")
            .replace("dict[str, JudgeConfig]", "table of tables")
            .replace("dict[str, ServiceConfig]", "table of tables")
        )
        kind = re.sub(r"Literal\[[^\]]*\]", "text", kind)
        kind = re.sub(r"tuple\[(\w+), \.\.\.\]", r"list of \1", kind)
        kind = re.sub(r"dict\[str, (\w+)\]", r"table of \1", kind)
        for word, plain in names.items():
            kind = re.sub(rf"\b{word}\b", plain, kind)
        kind = kind.replace("AgentConfig", "tables").replace("ArmConfig", "tables").replace("LimitsConfig", "table")
        kind = kind.replace("PeopleConfig", "table").replace("CalibrationConfig", "table")
        lines.append(f"| `{name}` | {kind} | {default} | {says} |")
    return "\n".join(lines)


def page(old: str) -> str:
    """The page with every table made anew between its marks."""
    for mark, (path, cls) in TABLES.items():
        made = f"<!-- {mark} -->\n{table(fields(path, cls))}\n<!-- end -->"
        old, count = re.subn(rf"<!-- {mark} -->.*?<!-- end -->", lambda _, made=made: made, old, flags=re.S)
        if count != 1:
            raise ValueError(f"docs/settings.md needs the marks of {mark} once")
    return old


def main() -> None:
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if "--check" in sys.argv:
        if new != old:
            sys.exit("docs/settings.md is stale; type: ./dev docs")
        return
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
