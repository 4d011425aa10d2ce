"""Prompts for agents: they name the folders, the deliverables and the self-check (RLI B.6, UpBench 5.1, ALE C.4)."""

from __future__ import annotations

from pathlib import Path

from worksample.records import Instance

from .harness_settings import WorkerSettings
from .workspace import Workspace

FORMATS = (
    "Evaluators open your deliverables in a viewer that shows PDF, office documents, spreadsheets, images, audio, "
    "video, 3D models, web pages, source code and plain text. Prefer a common file format that suits the brief, and "
    "give every file the correct extension."
)
BROWSER = (
    "You have a browser: use the tools whose names begin with browser. Each shows the page after the action. The text "
    "in [ ] before an element is its id."
)
DESKTOP = (
    "You have a desktop: a screen with a mouse and a keyboard. Use the tool computer for them; each call shows the "
    "screen after the action. Graphical programs that a shell starts appear on this screen."
)
DESKTOP_BY_MCP = (
    "You have a desktop: a screen with a mouse and a keyboard. Use the tools of the MCP server desktop for them; "
    "coordinates run from 0 to 1000 across and down the screen. Graphical programs that a shell starts appear on this "
    "screen."
)
SKILLS = (
    "Skills for this work are in {folder}, one folder each. Each SKILL.md begins with the skill's name and purpose. "
    "Look through them first. If a skill fits, read its whole SKILL.md and follow it."
)
NUDGE = (
    "Your answer called no tool. Continue the work by calling a tool, or call submit if every deliverable is in "
    "{output}. Questions in this conversation are not answered."
)
PLAN = (
    "Plan before you act. Answer without calling a tool: (1) the sub-goals of the brief, each with how you will check "
    "it; (2) a short plan of your work; (3) the files that you will put into {output}."
)
ACT = "Carry out the plan. When every deliverable is in {output}, stop calling tools and say what you made."
REFLECT = (
    "Now check your work as a strict client would. Open the files that you made; do not rely on your memory. Go "
    "through the brief requirement by requirement, and say for each whether it is met or what is wrong. If anything is "
    "wrong or missing, end your answer with the line\nVERDICT: REVISE\nIf everything is met, end it with the line\n"
    "VERDICT: READY"
)
REVISE = "Correct what you found. When you are done, stop calling tools and say what you changed."


def system_text(workspace: Workspace, settings: WorkerSettings, *, submits: bool = True) -> str:
    """Build the system message: the agent's role, the folders, the rules, the deliverables and the self-check."""
    parts = [
        "You are a professional doing a piece of paid work. Do all of it yourself, then hand in the result.",
        folder_text(workspace),
    ]
    if settings.auxiliary:
        parts.append(
            f"Put intermediate files and scripts into {workspace.scratch}, your auxiliary folder. "
            "You need not keep any."
        )
    else:
        parts.append(f"Put all other files into {workspace.scratch}.")
    parts += [
        "Questions in this conversation are not answered. If the brief leaves something open, decide as a careful "
        f"professional would.{_colleagues(workspace)} {workspace.network}",
        FORMATS,
    ]
    if "browser" in workspace.instance.work.environment.interfaces:
        parts.append(BROWSER)
    if "desktop" in workspace.instance.work.environment.interfaces:
        parts.append(DESKTOP if submits else DESKTOP_BY_MCP)
    if workspace.instance.work.environment.skills:
        parts.append(SKILLS.format(folder=workspace.instance.work.environment.skills))
    if settings.self_check != "none":
        parts.append(_check(settings, workspace))
    if submits:
        parts.append("When everything is in place, call submit. Nothing can be changed afterwards.")
    if settings.instructions:
        parts.append(settings.instructions)
    return "\n\n".join(parts)


def _colleagues(workspace: Workspace) -> str:
    """Return a sentence about colleagues who may answer. Return "" if the task has no company with a chat."""
    environment = workspace.instance.work.environment
    if environment.workplace is None or "chat" not in environment.services:
        return ""
    return " Colleagues may answer in the company's chat."


def folder_text(workspace: Workspace) -> str:
    """Return text that describes the folders of the box and says what is graded."""
    paths = workspace.instance.work.environment.paths
    return (
        f"Input files are in {paths.input} (read-only; the folder may be empty). Programs and data for the work are in "
        f"{paths.software} (read-only). Put the deliverables into {paths.output}: {_graded_text(workspace)}. Put into "
        "that folder what the brief asks for and nothing else: no notes, no temporary files."
    )


def _graded_text(workspace: Workspace) -> str:
    """Return text that says what is graded: the output folder, and changes in other folders if they are captured."""
    capture = workspace.instance.capture
    also = ["your changes in the services of the task"] if capture.exports else []
    also += ["your changes to other files of the system"] if capture.root else []
    if not also:
        return "only files in that folder are graded"
    return f"files in that folder are graded, and {' and '.join(also)} may be"


def _check(settings: WorkerSettings, workspace: Workspace) -> str:
    look = (
        "Before you hand in, open every deliverable again and check it against the brief: it opens, it is complete, "
        "numbers add up, code runs."
    )
    if settings.self_check == "look" and workspace.vision:
        return f"{look} Render visual deliverables (documents, charts, pictures, pages) to an image and look at it."
    return look


def program_text(workspace: Workspace, instructions: str) -> str:
    """Build the single prompt of a command-line agent. It has the same folders, rules and brief that `worker` gets in
    two messages.
    """
    settings = WorkerSettings(instructions=instructions)
    return f"{system_text(workspace, settings, submits=False)}\n\n# The work\n\n{brief_text(workspace, settings, None)}"


def brief_text(workspace: Workspace, settings: WorkerSettings, inputs: Path | None) -> str:
    """Build the first message: the brief, the names of the deliverables, the shown part of the rubric, and the input
    files.
    """
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
    """Return the texts of the input files in order of their names, as far as they fit. Every file is named."""
    out = ["# Attachments"]
    for path in sorted(p for p in inputs.rglob("*") if p.is_file()):
        name = f"{shown_at}/{path.relative_to(inputs).as_posix()}"
        size = path.stat().st_size
        text = _text(path) if size <= 4 * room else None
        if text is None:
            out.append(f"## {name}\n\n[{size} bytes, not shown: not text, or too long]")
        elif len(text) > room:
            out.append(f"## {name}\n\n[{size} bytes, not shown: no space left]")
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
