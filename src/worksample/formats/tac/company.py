"""The simulated company of TheAgentCompany's tasks: its people, chat channels and documents.

The original documents are in an image that the port does not contain. Documents that a task's own folder contains are
copied to the paths that its prompt names. The others can be given as a folder; else the task's notes list them as
missing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.errors import ImportFailed
from worksample.tasks.workplace_settings import BESIDES
from worksample.workplace.colleagues.colleague_profile import Colleague
from worksample.workplace.colleagues.the_agent_company import account_of, read_npcs

from .published_task import REINSTALL, PublishedTask

AGENT = "theagentcompany"
"""The name and password of the agent's account, as prompts and evaluators use them."""
TODAY = "2024-12-01T09:00:00"
"""The company's date, as prompts state it."""
PEOPLE = Path("servers/rocketchat/npc-data-population/npc_definition.json")
HR, FINANCE, DATA = "Documents/Human Resources Team", "Documents/Financials", "Documents/Data Analysis"
FOLDERS = (HR, f"{HR}/Attendance", f"{HR}/Immigration", f"{HR}/resumes", FINANCE, DATA,
           "Documents/Admin", "Documents/Administrative Specialist", "Documents/Research")  # fmt: skip
"""Folders that prompts name. The original image has them even if they are empty."""
_MONTH = {"april-attendance-data.csv": f"{HR}/Attendance/april-attendance-data.csv"}
_SHOP = ("customers", "inventory", "order_items", "orders", "products")
DOCUMENTS: Mapping[str, Mapping[str, str]] = {
    "ds_coffee_shop_database_management": {f"eval_data/{n}.csv": f"{DATA}/Coffee Shop/{n}.csv" for n in _SHOP},
    "ds_fix_table_values_and_missing_answers": {"ref_data.xlsx": f"{DATA}/Other Corp Area Totals.xlsx"},
    "ds_format_excel_sheets": {"respondent_counts.xlsx": f"{DATA}/respondent_counts.xlsx"},
    "finance_budget_variance": {n: f"{FINANCE}/{n}" for n in ("budget.xlsx", "actual_spending.xlsx")},
    "finance_check_attendance_payroll": _MONTH,
    "finance_invoice_matching": {"payments.xlsx": f"{FINANCE}/payments.xlsx"},
    "hr_check_attendance_multiple_days": _MONTH,
    "hr_check_attendance_multiple_days_department": _MONTH,
    "hr_check_attendance_multiple_days_department_with_chat": _MONTH,
    "hr_check_attendance_one_day": {"attendance-2024-03-01.csv": f"{HR}/Attendance/attendance-2024-03-01.csv"},
    "hr_salary_analysis": {"salary.txt": f"{HR}/salary.txt"},
}
"""Task -> file in its folder -> the path on ownCloud that the prompt names."""
TASKS_WITH_ALL_DOCUMENTS = frozenset(DOCUMENTS) - {
    "ds_coffee_shop_database_management", "finance_check_attendance_payroll", "finance_invoice_matching",
    "hr_check_attendance_multiple_days_department",
} | {"hr_new_grad_job_description"}  # fmt: skip
"""Tasks that need no other documents."""
SERVICES = {"gitlab": "git", "owncloud": "files", "plane": "tracker", "rocketchat": "chat"}
"""Product -> the service of a workplace that answers in its dialect."""


def services_for(products: Iterable[str]) -> list[str]:
    """Return the services of a workplace that these products need."""
    found = [name for one in products for name in (SERVICES[one], *BESIDES.get(one, ()))]
    return list(dict.fromkeys(found))


def write_company(root: Path, task: PublishedTask, documents: Path | None) -> None:
    """Write the company of a task into the folder `root`.

    documents: further files on ownCloud, from its root folder on. Raises ImportFailed if the installed list of people
    has an unknown form.
    """
    played = read_npcs(task.colleagues, where=f"{task.name}/eval.yaml")
    material = {place: task.folder / source for source, place in DOCUMENTS.get(task.name, {}).items()}
    people = read_people(task.folder.parent.parent / PEOPLE, REINSTALL)
    write_company_folder(root, people, played, material, documents)


def write_company_folder(
    root: Path, defined: Sequence[Mapping[str, Any]], colleagues: Sequence[Colleague], material: Mapping[str, Path],
    documents: Path | None, *, agent: Mapping[str, object] | None = None, more: Path | None = None,
) -> None:  # fmt: skip
    """Write a company with these people into the folder `root`.

    material: path on ownCloud -> document. documents: further files on ownCloud. agent: further keys of the agent's
    account. more: a folder in the company's own format, with projects, repositories and wikis.
    """
    played_by_id = {one.id: one for one in colleagues}
    people = _people(defined, played_by_id, agent or {})
    for name in ("channels", "colleagues", "files"):
        (root / name).mkdir(parents=True)
    for name in ("projects", "repositories", "wiki"):
        if more is not None and (more / name).is_dir():
            shutil.copytree(more / name, root / name, dirs_exist_ok=True)
    (root / "company.toml").write_text(_company(people), encoding="utf-8")
    # An administrator changes every channel without owning one.
    owner = "" if (agent or {}).get("admin") else AGENT
    for room, keys in channel_settings(people, owner).items():
        lines = (f"{key} = {_toml(value)}\n" for key, value in keys.items())
        (root / "channels" / f"{room}.toml").write_text("".join(lines), encoding="utf-8")
    for one in played_by_id.values():
        text = f'strategy = {_toml(one.strategy)}\nbacking = "model"\n'
        (root / "colleagues" / f"{one.id}.toml").write_text(text, encoding="utf-8")
    if documents is not None:
        shutil.copytree(documents, root / "files", dirs_exist_ok=True)
    for place, source in material.items():
        target = root / "files" / place
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    for folder in FOLDERS:
        inside = root / "files" / folder
        inside.mkdir(parents=True, exist_ok=True)
        if not any(inside.iterdir()):
            (inside / "README.txt").write_text("A folder of the company's documents.\n", encoding="utf-8")


def read_people(path: Path, next: str) -> list[dict[str, Any]]:
    """Read the people of a published list. Raises ImportFailed, with `next`, if the list has an unknown form."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return [one for one in found if one["first_name"] != AGENT]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise ImportFailed(f"cannot be read: {fault}", where=str(path), next=next) from fault


def _people(
    defined: Sequence[Mapping[str, Any]], played: Mapping[str, Colleague], agent: Mapping[str, object]
) -> dict[str, dict[str, Any]]:
    """Return account -> the keys of the person."""
    people: dict[str, dict[str, Any]] = {
        AGENT: {"name": "The Agent Company", "role": "Assistant", "password": AGENT, **agent}
    }
    for one in defined:
        name = f"{one['first_name']} {one['last_name']}"
        people[account_of(name)] = {
            "name": name, "role": one["occupation"], "responsibilities": one.get("public_info", ""),
            "bio": one.get("public_info", ""),
        }  # fmt: skip
    for colleague in played.values():
        people.setdefault(colleague.id, {"name": colleague.name, "role": colleague.role or "Colleague"})
    return people


def _company(people: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ['name = "TheAgentCompany"', f"today = {TODAY}", ""]
    for account, keys in people.items():
        lines += ["[[person]]", f"id = {_toml(account)}", *(f"{key} = {_toml(text)}" for key, text in keys.items()), ""]
    return "\n".join(lines)


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_COLLEAGUES = (
    "alex_turner", "chen_xinyi", "david_wong", "emily_zhou", "emma_lewis", "huang_jie", "jessica_chen",
    "jessica_lee", "li_ming", "liu_qiang", "mark_johnson", "mike_chen", "priya_sharma", "sarah_johnson",
    "sophia_rodriguez", "wang_fang", "zhang_wei",
)  # fmt: skip
GENERAL = "general"
"""The channel that everyone has joined."""
ROOMS: Mapping[str, tuple[str, ...]] = {
    "engineering": ("sarah_johnson",),
    "help-desk": tuple(c for c in _COLLEAGUES if c not in ("alex_turner", "li_ming", "liu_qiang", "sarah_johnson")),
    "hr-announcements": ("chen_xinyi", "mike_chen"),
    "kudos": (*(one for one in _COLLEAGUES if one != "emma_lewis"), "theagentcompany"),
    "product": ("huang_jie", "sarah_johnson", "sophia_rodriguez"),
    "project-ai": ("liu_qiang", "mike_chen", "sarah_johnson", "sophia_rodriguez", "wang_fang"),
    "project-graphdb": ("li_ming", "liu_qiang", "priya_sharma", "sarah_johnson", "sophia_rodriguez"),
    "project-lowcode": ("alex_turner", "liu_qiang", "sarah_johnson", "sophia_rodriguez"),
    "project-search": ("huang_jie", "priya_sharma", "sarah_johnson", "sophia_rodriguez"),
    "project-streamdb": ("liu_qiang", "sarah_johnson", "sophia_rodriguez", "zhang_wei"),
    "project-webcrawler": ("emily_zhou", "liu_qiang", "priya_sharma", "sarah_johnson", "sophia_rodriguez"),
    "random": ("emma_lewis", "jessica_chen", "liu_qiang", "mark_johnson", "mike_chen", "sarah_johnson", "wang_fang"),
    "sales-marketing": ("jessica_lee", "mark_johnson"),
    "tech-talk": (
        "alex_turner", "emily_zhou", "emma_lewis", "jessica_lee", "li_ming", "liu_qiang", "mike_chen", "priya_sharma",
        "sarah_johnson", "sophia_rodriguez", "wang_fang",
    ),
}  # fmt: skip
"""Channel -> its members, without the authors of the original database."""


def channel_settings(people: Collection[str], owner: str) -> dict[str, dict[str, Any]]:
    """Return the settings of each channel, with those members that the company has. `owner` owns every channel; ""
    for nobody.
    """
    owned = {"owners": [owner]} if owner else {}
    rooms: dict[str, dict[str, Any]] = {GENERAL: dict(owned)}
    for name, members in ROOMS.items():
        rooms[name] = {"members": [one for one in members if one in people], "open": True, **owned}
    return rooms
