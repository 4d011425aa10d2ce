"""Random valid UpBench tables with awkward texts, from a seed."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from worksample.formats.upbench import Tables
from worksample.formats.upbench.tables import Row, complete_tables

TEXTS = (
    "Plain words", "None", "NA", "n/a", "=1+1", "+49 30 1234", "a,b;c\td|e", 'say "so"', "one\ntwo\n\nthree", "\rfour",
    " spaces ", "0", "true",
    "naïve Straße 東京 \U0001f600", "{{month}} and {{ a.b }}", "\x00\x07\x7f\x85\u2028", "../../etc",
    "## Provided material\n\n- `x`\n\n## Deliverables\n\nNone", "[not json", '"""', "'''\\", "# heading",
)  # fmt: skip
IMPORTANCES = ("critical", "important", "optional", "pitfall")
CATEGORIES = (
    ("Writing", "Content Writing", "Article Writing"), ("Translation", "Translation & Localization Services", None),
    ("Carpentry", None, None), (None, None, None), ("Web, Mobile & Software Dev", "Web Development", "None"),
)  # fmt: skip


class Maker:
    """A maker of random tables in the form of an export, so that they must come back unchanged."""

    def __init__(self, seed: int, jobs: int = 4) -> None:
        self.rng = random.Random(seed)
        self.jobs = jobs

    def make(self) -> Tables:
        self.people = [self.person("evaluator_id", f"e{n}", human=n != 1) for n in range(3)]
        self.agents = [self.person("agent_id", f"A/{n} {self.rng.choice(TEXTS)}", human=None) for n in range(2)]
        self.agents.append(self.person("agent_id", "rita", human=True))
        self.projects = [self.project(n) for n in range(self.jobs)]
        self.qualifications = [
            self.qualification(str(n), p)
            for n, p in enumerate(p for p in self.projects for _ in range(self.rng.randrange(3)))
        ]
        self.submissions: list[Row] = []
        self.evaluations: list[Row] = []
        for project in self.projects:
            for agent in self.agents:
                self.chain(project, agent)
        return complete_tables(
            {
                "projects": self.projects, "qualifications": self.qualifications, "submissions": self.submissions,
                "evaluations": self.evaluations, "evaluators": self.people, "agents": self.agents,
            }
        )  # fmt: skip

    def maybe(self, value: Any, often: float = 0.6) -> Any:
        return value if self.rng.random() < often else None

    def text(self) -> str:
        return self.rng.choice(TEXTS) + self.rng.choice(("", "", " more", "\n- and more"))

    def at(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=self.rng.randrange(40_000_000), microseconds=1)

    def amount(self) -> float:
        return self.rng.choice((0.0, 150.0, 1200.5, 1e-05, 99_999_999.99, round(self.rng.expovariate(1 / 200), 2)))

    def person(self, column: str, id: str, human: bool | None) -> Row:
        human = self.rng.choice((True, False, None)) if human is None else human
        at = self.at() if column == "evaluator_id" else self.maybe(self.at())
        return {column: id, "registration_ts": at, "is_human": human, "name": self.maybe(self.text())}

    def rubric(self) -> list[Row] | None:
        out: list[Row] = []
        for n in range(self.rng.randrange(6)):
            item: Row = {"criterion": f"Has {self.text()} {self.rng.choice(('', n))}"}
            item |= {"points": 2.5} if self.rng.random() < 0.2 else {"importance": self.rng.choice(IMPORTANCES)}
            item |= {"id": f"own-{n}"} if self.rng.random() < 0.2 else {}
            out.append(item | ({"by": "judge"} if self.rng.random() < 0.1 else {}))
        return out or None

    def project(self, n: int) -> Row:
        category, sub, below = self.rng.choice(CATEGORIES)
        start = self.maybe(self.at())
        amounts = {c: self.maybe(self.amount(), 0.4) for c in ("job_amount", "contract_amount", "milestone_amount")}
        known = any(a is not None for a in amounts.values())
        hours = self.maybe(2.5, 0.3)
        return {
            "contract_id": self.rng.choice((f"c-{n}", f"C-{n // 2 * 2}{'' if n % 2 else 'x'}", f"job {n} / ü", str(n))),
            "start_ts": start, "end_ts": self.maybe(start and start + timedelta(days=3)),
            "job_title": self.maybe(self.text()), "job_description": f"{self.text()}\n{self.text()} {n}", **amounts,
            "expertise_tier": self.maybe(self.text()), "category": category, "subcategory": sub,
            "subsubcategory": below, "num_openings": self.maybe(self.rng.randrange(4)),
            "num_milestones": self.maybe(self.rng.randrange(4)),
            "automation_desire_rating": self.maybe(round(self.rng.random() * 5, 1)),
            "onet_tasks": self.maybe([self.text(), self.text()]),
            "attachments": self.maybe(["a.pdf", {"name": "b.png", "size": 12, "url": "https://example.com/b"}]),
            "currency": self.rng.choice(("USD", "EUR")) if known else None,
            "amount_source": self.rng.choice(("paid", "estimated")) if known or hours is not None else None,
            "hours": hours, "contract_type": self.rng.choice((None, "fixed", "hourly")),
            "status": self.maybe("Completed"), "payment_verified": self.rng.choice((None, True, False)),
            "acceptance_criteria": None,
        }  # fmt: skip

    def qualification(self, id: str, project: Row) -> Row:
        good = self.rng.random() < 0.8
        row: Row = {
            "qualification_id": id, "contract_id": project["contract_id"], "evaluator_id": self.someone(),
            "qualification_ts": self.at(), "acceptance_criteria": None, "is_successful_run": good,
        }  # fmt: skip
        if good or self.rng.random() < 0.5:
            for n in (1, 2, 3):
                row[f"criterion_{n}_judgment"] = self.rng.choice(("pass", "fail", "skip", "unsure"))
                row[f"criterion_{n}_reasoning"] = self.maybe(self.text(), 0.4)
            row["criterion_4"] = self.maybe("hard", 0.3)
            free = "criterion_5" if row["criterion_4"] else "criterion_4"
            row[free] = self.maybe({"question": "licence", "judgment": "yes", "reasoning": self.text()}, 0.5)
            row["acceptance_criteria"] = self.rubric()
        return row

    def someone(self) -> str:
        return str(self.rng.choice(self.people)["evaluator_id"])

    def rubric_of(self, project: Row) -> list[Row]:
        """Return the rubric in force: the latest that a successful qualification wrote."""
        mine = [q for q in self.qualifications if q["contract_id"] == project["contract_id"]]
        mine = [q for q in mine if q["is_successful_run"] and q["acceptance_criteria"]]
        mine.sort(key=lambda q: (q["qualification_ts"], q["qualification_id"]))
        return list(mine[-1]["acceptance_criteria"]) if mine else []

    def chain(self, project: Row, agent: Row) -> None:
        project["acceptance_criteria"] = self.rubric_of(project) or None
        for k in range(1, self.rng.randrange(1, 5)):
            for _ in range(self.rng.choice((1, 1, 1, 2))):
                self.submission(project, agent, k)
        if self.rng.random() < 0.2:
            self.submission(project, agent, None)

    def submission(self, project: Row, agent: Row, k: int | None) -> None:
        files = sorted({"report.docx", "a b/ü.csv", "100%.txt", f"{len(self.submissions)}.png"})
        made: Row = {
            "submission_id": f"s{len(self.submissions)}", "contract_id": project["contract_id"],
            "agent_id": agent["agent_id"], "submission_ts": self.at(),
            "deliverables": self.rng.choice((None, [], files, [*files, "https://example.com/x?y=1"])),
            "notes": self.maybe(self.text(), 0.3), "k": k,
            "duration": self.maybe(round(self.rng.random() * 4000, 6), 1 if k else 0.5),
            "is_successful_run": self.rng.random() < 0.85,
        }  # fmt: skip
        self.submissions.append(made)
        for _ in range(self.rng.randrange(3)):
            self.evaluation(made, project)

    def evaluation(self, made: Row, project: Row) -> None:
        good = self.rng.random() < 0.85
        said: Any = None
        if good or self.rng.random() < 0.5:
            said = self.feedback(project)
        self.evaluations.append(
            {
                "evaluation_id": str(len(self.evaluations)), "contract_id": project["contract_id"],
                "submission_id": made["submission_id"], "evaluator_id": self.someone(), "submission_feedback": said,
                "judgement": self.maybe(self.rng.choice(("pass", "fail"))), "is_successful_run": good,
                "evaluation_ts": self.maybe(self.at()), "minutes": self.maybe(12.5),
            }
        )  # fmt: skip

    def feedback(self, project: Row) -> Any:
        rubric = self.rubric_of(project)
        words = [item["criterion"] for item in rubric]
        out: list[Row] = []
        for n, item in enumerate(rubric, 1):
            mark = self.rng.choice(("pass", "pass", "fail", "skip", "not_applicable"))
            one = words.count(item["criterion"]) == 1
            told = {"criterion": item["criterion"]} if one else {"id": item.get("id", f"c{n}")}
            told |= {k: item[k] for k in ("importance", "points") if k in item}
            told |= {"judgment": mark} | ({"fraction": 0.5} if mark == "fail" and n == 2 else {})
            out.append(told | ({"feedback": self.text()} if self.rng.random() < 0.5 else {}))
        if not out or self.rng.random() < 0.1:
            out.append({"criterion": "Nobody asked for this", "points": 1.0, "judgment": "pass"})
        whole = {"holistic": self.rng.choice((1, 2, 3)), "feedback": self.text()}
        return whole if self.rng.random() < 0.1 else out
