"""Prompts for agents, built from the parts of the task (RLI B.6, UpBench 5.1, ALE C.4)."""

from __future__ import annotations

from pathlib import Path

from worksample.records import Instance

from .harness_settings import WorkerSettings
from .prompt_parts import PARTS
from .workspace import Workspace

NUDGE = (
    "Your answer called no tool. Continue the work by calling a tool, or call submit if everything is in place. "
    "Questions in this conversation are not answered."
)
PLAN = (
    "Plan before you act. Answer without calling a tool: (1) the sub-goals of the brief, each with how you will check "
    "it; (2) a short plan of your work; (3) what you will hand in, and where."
)
ACT = "Carry out the plan. When everything is in place, stop calling tools and say what you made."
REFLECT = (
    "Now check your work as a strict client would. Open the files that you made; do not rely on your memory. Go "
    "through the brief requirement by requirement, and say for each whether it is met or what is wrong. If anything is "
    "wrong or missing, end your answer with the line\nVERDICT: REVISE\nIf everything is met, end it with the line\n"
    "VERDICT: READY"
)
REVISE = "Correct what you found. When you are done, stop calling tools and say what you changed."


def system_text(workspace: Workspace, settings: WorkerSettings, *, submits: bool = True) -> str:
    """Build the system message from the parts that the settings name."""
    parts = [part(workspace, settings) for name, part in PARTS.items() if name in settings.prompt]
    if submits:
        parts.append(submit_text(workspace))
    parts.append(settings.instructions)
    return "\n\n".join(filter(None, parts))


def submit_text(workspace: Workspace) -> str:
    """Return the sentence that says how the agent ends its work, or one step of the work."""
    if workspace.in_steps:
        return "When everything is in place, call submit. It ends this step of the work."
    return "When everything is in place, call submit. Nothing can be changed afterwards."


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
