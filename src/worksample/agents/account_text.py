"""Sentences of a prompt about the agent's accounts in the task's services."""

from __future__ import annotations

from worksample.records import Environment


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
