"""Prompts for agents: folders, deliverables and self-check (RLI B.6, UpBench 5.1, ALE C.4)."""

from __future__ import annotations

from pathlib import Path

from worksample.records import Instance

from .settings import WorkerSettings
from .workspace import Workspace

FORMATS = (
    "Evaluators open deliverables in a viewer that shows PDF, office documents, spreadsheets, pictures, audio, video, "
    "3D models, web pages, source code and plain text. Prefer a common format of the kind that the brief asks for, and "
    "give every file the right extension."
)
BROWSER = (
    "You have a browser, by the tools whose names begin with browser. Each shows the page as it is after the action; "
    "elements are named by what stands in [ ]."
)
SKILLS = (
    "Skills for this work are in {folder}, each in a folder of its own. Its SKILL.md begins with a name and with what "
    "the skill is for. Look through them first; where one fits, read all of its SKILL.md and follow it."
)
NUDGE = (
    "Nothing was done in this answer. Go on with the work by calling a tool, or call submit when every deliverable "
    "lies in {output}. No question will be answered."
)
PLAN = (
    "Before you act, plan. Answer without calling a tool: (1) the sub-goals that the brief holds, each with how you "
    "will know that it is met; (2) a short plan of work; (3) the files that you will leave in {output}."
)
ACT = "Carry out the plan. When every deliverable lies in {output}, stop calling tools and say what you made."
REFLECT = (
    "Now check your work as a strict client would. Look at the files that you made, not at your memory of them. Go "
    "through the brief requirement by requirement: met, or what is wrong. If anything is wrong or missing, end your "
    "answer with the line\nVERDICT: REVISE\nIf all of it is met, end with the line\nVERDICT: READY"
)
REVISE = "Put right what you found. When it is done, stop calling tools and say what you changed."


def system_text(workspace: Workspace, settings: WorkerSettings, *, submits: bool = True) -> str:
    """Build the system message: role, folders, rules, deliverables, self-check."""
    parts = [
        "You are a professional with a piece of paid work. You do it alone, to the end, and hand in the result.",
        folder_text(workspace),
    ]
    if settings.auxiliary:
        parts.append(
            f"Intermediate files and scripts belong in {workspace.scratch}, your auxiliary folder. "
            "You need not keep any."
        )
    else:
        parts.append(f"{workspace.scratch} is for anything else you write.")
    parts += [
        "Nobody answers questions. Where the brief leaves something open, decide as a careful professional would. "
        "There is no internet.",
        FORMATS,
    ]
    if "browser" in workspace.instance.work.environment.interfaces:
        parts.append(BROWSER)
    if workspace.instance.work.environment.skills:
        parts.append(SKILLS.format(folder=workspace.instance.work.environment.skills))
    if settings.self_check != "none":
        parts.append(_check(settings, workspace))
    if submits:
        parts.append("When everything is in place, call submit. Nothing can be changed afterwards.")
    if settings.instructions:
        parts.append(settings.instructions)
    return "\n\n".join(parts)


def folder_text(workspace: Workspace) -> str:
    """Describe the folders of the box."""
    paths = workspace.instance.work.environment.paths
    return (
        f"Material is in {paths.input} (read-only; it may be empty). Programs and data that belong to the work are in "
        f"{paths.software} (read-only). Deliverables go into {paths.output}: only that is looked at when "
        "the work is over, so put there what the brief asks for and nothing else, no notes, no leftovers."
    )


def _check(settings: WorkerSettings, workspace: Workspace) -> str:
    look = (
        "Before you hand in, open every deliverable again and check it against the brief: that it opens, that it is "
        "complete, that numbers add up, that code runs."
    )
    if settings.self_check == "look" and workspace.vision:
        return f"{look} Render what is visual (documents, charts, pictures, pages) to an image and look at it."
    return look


def program_text(workspace: Workspace, instructions: str) -> str:
    """Build the single prompt of a command-line agent: folders, rules and brief, as `worker` gets them."""
    settings = WorkerSettings(instructions=instructions)
    return f"{system_text(workspace, settings, submits=False)}\n\n# The work\n\n{brief_text(workspace, settings, None)}"


def brief_text(workspace: Workspace, settings: WorkerSettings, inputs: Path | None) -> str:
    """Build the first message: the brief, the deliverables by name, the shown part of the rubric, the input files."""
    instance = workspace.instance
    parts = [instance.work.brief.strip(), *_deliverables(instance)]
    if instance.work.shown_rubric:
        parts.append(f"# How it will be judged\n\n{instance.work.shown_rubric.strip()}")
    if settings.attachments == "inline" and inputs is not None:
        parts.append(_attachments(inputs, instance.work.environment.paths.input, settings.attachment_characters))
    return "\n\n".join(part for part in parts if part)


def _deliverables(instance: Instance) -> list[str]:
    rows = [
        f"- {instance.work.environment.paths.output}/{d.name} ({d.format}{'' if d.required else ', optional'})"
        f"{f': {d.about}' if d.about else ''}"
        for d in instance.work.deliverables
    ]
    return ["# Files to hand in\n\n" + "\n".join(rows)] if rows else []


def _attachments(inputs: Path, shown_at: str, room: int) -> str:
    """Return the text of the input files in order of name, as far as it fits; every file is named."""
    out = ["# Attachments"]
    for path in sorted(p for p in inputs.rglob("*") if p.is_file()):
        name = f"{shown_at}/{path.relative_to(inputs).as_posix()}"
        size = path.stat().st_size
        text = _text(path) if size <= 4 * room else None
        if text is None:
            out.append(f"## {name}\n\n[{size} bytes, not shown: no text, or too long]")
        elif len(text) > room:
            out.append(f"## {name}\n\n[{size} bytes, not shown: no room left]")
        else:
            room -= len(text)
            out.append(f"## {name}\n\n{text}")
    return "\n\n".join(out) if len(out) > 1 else ""


def _text(path: Path) -> str | None:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
