"""Constants of roles, rounds and forms for the web front end.

`python -m worksample.app.web_constants` prints `web/src/app/protocol.ts`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from worksample.people import PeopleRound
from worksample.people.access.account import Role
from worksample.people.quality import gold_items
from worksample.people.rounds import pilot_gate as pilot
from worksample.people.rounds.judging_forms import FORM_OF, OVER, SPECS, Form, RoundKind, roles_of, votes_of
from worksample.records import ResolutionRule

_HEAD = (
    "/** Made by `python -m worksample.app.web_constants`; a test says when it is stale. */\n\nexport const PROTOCOL = "
)
_DEFAULTS = ("per_pair", "sample", "positives", "domains", "training", "lease_minutes", "most_open")


def constants() -> dict[str, Any]:
    """Return roles, rules, round kinds, forms, defaults of a new round, and the thresholds of pilots and quizzes."""
    usual = {f.name: f.default for f in dataclasses.fields(PeopleRound)}
    return {
        "roles": [role.value for role in Role],
        "rules": [rule.value for rule in ResolutionRule],
        "kinds": {kind.value: _kind(kind) for kind in RoundKind},
        "forms": {form.value: _form(form) for form in Form},
        "defaults": {name: usual[name] for name in _DEFAULTS},
        "gates": {"pilot": pilot.NEEDED, "fewest": pilot.FEWEST, "quiz": gold_items.NEEDED},
    }


def _kind(kind: RoundKind) -> dict[str, Any]:
    rule, overlap = votes_of(kind)
    roles = roles_of(kind)
    return {
        "roles": [role.value for role in Role if role in roles],
        "rule": rule.value,
        "overlap": overlap,
        "form": FORM_OF[kind].value if kind in FORM_OF else None,
        "over": kind in OVER,
    }


def _form(form: Form) -> dict[str, Any]:
    """Describe a form. `gold`: the questions that a gold item answers."""
    spec = SPECS[form]
    gold = [ask for ask in spec.asks if ask.required and ask.type != "text"]
    return {
        "reference": spec.reference,
        "gold": [{"name": a.name, "type": a.type, "label": a.label, "options": a.plain()["options"]} for a in gold],
    }


def typescript_source() -> str:
    """Return the text of the TypeScript file."""
    return f"{_HEAD}{json.dumps(constants(), indent=2)} as const;\n"


if __name__ == "__main__":
    sys.stdout.write(typescript_source())
