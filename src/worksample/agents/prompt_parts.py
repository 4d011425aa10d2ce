"""Parts of an agent's prompt. Each part describes only things that the task has.

The parts follow the prompt builder of ALE C.4: identity, tool guidance, runtime, rules and skills.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from worksample.files.shown_formats import formats_text
from worksample.records import By, Environment, Instance, Manifest, Protocol, digest_of
from worksample.tasks.workplace_settings import DIALECTS, PORTS, WORKPLACE
from worksample.terminal_text import duration

from .workspace import Workspace

if TYPE_CHECKING:
    from .harness_settings import WorkerSettings

EMPTY = digest_of(Manifest().plain())
"""Digest of a folder without files."""
SEEN = (Protocol.RUBRIC, Protocol.HOLISTIC, Protocol.PAIRWISE)
"""Protocols in which evaluators see the deliverables in the viewer."""


def role(workspace: Workspace, settings: WorkerSettings) -> str:
    """Say who the agent is, and whether it can ask somebody."""
    text = "You are a professional doing a piece of paid work. Finish all of it, then hand in the result."
    if has_colleagues(workspace.instance):
        return (
            f"{text} Messages in this conversation are not answered, but colleagues may answer in the company's chat. "
            "Ask them there for what only they know; decide the rest as a careful professional would."
        )
    return (
        f"{text} Questions in this conversation are not answered. If the brief leaves something open, decide as a "
        "careful professional would."
    )


def folders(workspace: Workspace, settings: WorkerSettings) -> str:
    """Say which folders the box has and what belongs into each."""
    text = folder_text(workspace)
    if settings.auxiliary:
        return (
            f"{text} Put intermediate files and scripts into {workspace.scratch}, your auxiliary folder. "
            "You need not keep any."
        )
    if workspace.instance.capture.root:
        return f"{text} {workspace.scratch} is for temporary files."
    return f"{text} Put all other files into {workspace.scratch}."


def folder_text(workspace: Workspace) -> str:
    """Return text that names the folders of the box and says what is handed in."""
    work, capture = workspace.instance.work, workspace.instance.capture
    paths = work.environment.paths
    parts = [
        "There are no input files." if work.inputs == EMPTY else f"Input files are in {paths.input} (read-only).",
        *filter(None, [copied_inputs_text(work.environment)]),
    ]
    if work.software != EMPTY:
        parts.append(f"Programs and data for the work are in {paths.software} (read-only).")
    if not (capture.root or capture.exports):
        parts.append(
            f"Put the deliverables into {paths.output}: only files in that folder are handed in. Put into that folder "
            "what the brief asks for and nothing else: no notes, no temporary files."
        )
        return " ".join([*parts, *_state_text(capture.probe_names)])
    handed = [f"Deliverables that are files belong into {paths.output}, which is handed in, unless the brief names "
              "another place."]  # fmt: skip
    if capture.exports:
        handed.append(
            "What you change in the services is part of your work: their state is recorded when you are done."
        )
    if capture.root:
        handed.append("Your changes to files anywhere in the system are recorded, too.")
    return " ".join([*parts, *handed, *_state_text(capture.probe_names)])


def _state_text(probes: tuple[str, ...]) -> tuple[str, ...]:
    return ("When you are done, programs examine the state of this machine.",) if probes else ()


def company(workspace: Workspace, settings: WorkerSettings) -> str:
    """Name the services of the company and of the task, with their addresses."""
    environment = workspace.instance.work.environment
    rows = []
    for one in environment.endpoints:
        to, _, rest = one.to.partition(":")
        if to == "service":
            rows.append(f"- {_service_label(one.name, rest.partition(':')[0])}: http://{one.name}:{one.port}")
    accounts = accounts_text(environment, browser="browser" in workspace.interfaces)
    if not rows:
        return accounts
    head = "You work in a company. Its services" if environment.workplace is not None else "Services of the task"
    listed = f"{head}, at addresses that only this machine reaches:\n" + "\n".join(rows)
    return f"{listed}\n{accounts}" if accounts else listed


def _service_label(host: str, service: str) -> str:
    """Return the name of a service for people. A product's API is named with the service that it belongs to."""
    if service != WORKPLACE:
        return service
    if host in DIALECTS and host not in PORTS:
        return f"{host} (the company's {DIALECTS[host][0]}, with this product's API)"
    return host


def runtime(workspace: Workspace, settings: WorkerSettings) -> str:
    """Say which network the box reaches, which programs it has for the work, and, if set, the limits."""
    environment = workspace.instance.work.environment
    parts = [workspace.network]
    if environment.software:
        parts.append(f"These programs are installed for the work: {', '.join(environment.software)}.")
    if environment.mcp:
        parts.append(
            f"The task brings tools of its own, from {_plural(len(environment.mcp), 'MCP server')}: "
            f"{', '.join(one.name for one in environment.mcp)}."
        )
    if settings.tell_limits and (told := limits_text(workspace)):
        parts.append(told)
    return " ".join(parts)


def limits_text(workspace: Workspace) -> str:
    """Return the limits of the trial in words. Return "" if it has none."""
    limits = workspace.limits
    told = [
        f"{duration(limits.time)} of time" if limits.time is not None else "",
        f"${limits.cost:g} of model cost" if limits.cost is not None else "",
        f"{limits.tokens:,} tokens" if limits.tokens is not None else "",
        f"{limits.turns} steps (answers of yours)" if limits.turns is not None else "",
    ]
    said = ", ".join(filter(None, told))
    return f"You have at most {said}; what is in place by then is graded." if said else ""


def tools(workspace: Workspace, settings: WorkerSettings) -> str:
    """Say how to use the interfaces that the agent's tools lead to."""
    own = workspace.interfaces
    parts = []
    if "browser" in own:
        named = "the MCP server `browser`" if workspace.tools_by_mcp else "the tools whose names begin with `browser_`"
        parts.append(f"You have a browser: use {named}. Each tool shows the page after the action.")
    if "desktop" in own:
        named = (
            "the MCP server `desktop`, whose coordinates run from 0 to 1000 across and down the screen"
            if workspace.tools_by_mcp
            else "the tool `computer` and those whose names begin with `desktop_`"
        )
        parts.append(
            f"You have a desktop with a screen, a mouse and a keyboard: use {named}. Graphical programs that a shell "
            "starts appear on it."
        )
    parts += workspace.guidance
    return " ".join(parts)


def formats(workspace: Workspace, settings: WorkerSettings) -> str:
    """Say in which form the deliverables are judged: by programs, or by evaluators who use the viewer."""
    gradings = workspace.instance.grading
    parts = []
    if any(p not in SEEN or (g.names_evaluators and By.PROGRAM in g.criteria.kinds) for p, g in gradings.items()):
        parts.append("Programs check the result, so use exactly the names and formats that the brief asks for.")
    if any(p in SEEN or By.PERSON in g.criteria.kinds for p, g in gradings.items()):
        parts.append(
            f"Evaluators open your deliverables in a viewer. It shows these formats: {formats_text()}. Prefer a common "
            "format that suits the brief, and give every file the correct extension."
        )
    return " ".join(parts)


def skills(workspace: Workspace, settings: WorkerSettings) -> str:
    """Name the folder of the task's skills, and say how to use them."""
    folder = workspace.instance.work.environment.skills
    if not folder:
        return ""
    return (
        f"Skills for this work are in {folder}, one folder each. Each SKILL.md begins with the skill's name and "
        "purpose. Look through them first. If a skill fits, read its whole SKILL.md and follow it."
    )


def self_check(workspace: Workspace, settings: WorkerSettings) -> str:
    """Ask the agent to check its deliverables before it hands them in."""
    if settings.self_check == "none":
        return ""
    look = (
        "Before you hand in, open every deliverable again and check it against the brief: it opens, it is complete, "
        "numbers add up, code runs."
    )
    if settings.self_check == "look" and workspace.vision:
        return f"{look} Render visual deliverables (documents, charts, pictures, pages) to an image and look at it."
    return look


PARTS: Mapping[str, Callable[[Workspace, WorkerSettings], str]] = {
    "role": role,
    "folders": folders,
    "runtime": runtime,
    "company": company,
    "tools": tools,
    "formats": formats,
    "skills": skills,
    "check": self_check,
}
"""Parts of the system message, in their order."""


def has_colleagues(instance: Instance) -> bool:
    """Return whether the task has a company with a chat in which simulated colleagues may answer."""
    environment = instance.work.environment
    return environment.workplace is not None and not environment.workplace.silent and "chat" in environment.services


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def accounts_text(environment: Environment, *, browser: bool) -> str:
    """Return the accounts that the agent is told, and the services in which its browser is signed in; "" if the task
    has none.

    browser: whether the agent uses a browser.
    """
    lines = [
        f"Your account for {one.service} ({one.url}): user name {one.name}, password {one.password}."
        for one in environment.accounts
        if one.shown
    ]
    if browser and environment.browser is not None and environment.browser.signed_in:
        names = ", ".join(f"{one.service} ({one.url})" for one in environment.accounts)
        lines.append(f"Your browser is already signed in to {names}.")
    return "\n".join(lines)


def copied_inputs_text(environment: Environment) -> str:
    """Return a sentence about the copies of the input files in the output folder; "" if the task has none."""
    if not environment.copied_inputs:
        return ""
    return f"{environment.paths.output} already has copies of the input files, which you may change."
