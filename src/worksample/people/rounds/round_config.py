"""Settings of a round by people."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worksample.errors import UsageError
from worksample.people.access.account import Role, read_roles
from worksample.records import Protocol, ResolutionRule
from worksample.results.calibration.label_draw import DRAWN
from worksample.results.job_suitability import RULES
from worksample.results.pair_sampling import PER_PAIR

from .job_questions import Question, faults_of
from .judging_forms import BY_CRITERIA, FORM_OF, LABELLING, OVER, Form, RoundKind, roles_of, votes_of


@dataclass(frozen=True, slots=True)
class Gold:
    """An item with a known right answer: `expected` maps questions to answers, such as `{"score": 1}`."""

    subject: str
    expected: Mapping[str, Any]
    explanation: str = ""
    second: str | None = None

    def __post_init__(self) -> None:
        if not self.expected:
            raise UsageError(
                "a gold item needs an expected answer",
                where=self.subject,
                next="give its expected answer, or leave it out of gold",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleRound:
    """A round to open. Its subjects are an experiment's live submissions, or `subjects`, or those that `kind` picks
    from the round `over`.

    For a qualification `subjects` are ids of instances: the jobs.
    """

    kind: RoundKind
    experiment: str | None = None
    subjects: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    """Pairs of submissions to compare, if they are not drawn; `subjects` lists all of them."""
    over: str | None = None
    """The round to review. For a holistic, pairwise or rubric round over an experiment: the judge's round that people
    label.
    """
    form: Form | None = None
    """The form, for kinds that do not fix one."""
    protocol: Protocol | None = None
    """For the rubric form, the protocol with the criteria: program, checkpoints or rubric. None: rubric, or that of the
    round `over`.
    """
    rule: ResolutionRule | None = None
    overlap: int | None = None
    per_pair: int = PER_PAIR
    """Projects on which each pair of agents is compared (RLI B.2: at least 10)."""
    sample: int = 50
    """Size of the sample for pilots, reliability rounds and false negatives, and of the fails in an integrity round."""
    positives: float = 0.5
    """Share of passes in a reliability round."""
    gold: tuple[Gold, ...] = ()
    """Gold items, hidden among the others and answered by everybody; a calibration has only these."""
    roles: frozenset[Role] | None = None
    reference: bool | None = None
    """Whether to show the reference; None for the protocol's default."""
    domains: bool = False
    """Offer items only to people whose profile names their domain."""
    training: bool = True
    """Offer items only to people who have read this version of the instructions."""
    quiz: str | None = None
    """Offer items only to people who have passed this calibration round."""
    holistic: str | None = None
    """For pairs: the round that tells which submissions succeeded; quality decides only between two successes (RLI
    3.4).
    """
    lease_minutes: float = 15
    """Minutes without activity after which an item passes to somebody else."""
    most_open: int = 3
    """Most items that a person may have open, preloaded ones included."""
    seed: int | None = None
    """Random seed; None draws one. The round records it."""
    questions: tuple[Question, ...] = ()
    """Questions about jobs in addition to the core (`job_questions.CORE`)."""
    looks: str = ""
    """Digest of the blob that maps jobs to blobs with their screening (`screening_results`)."""
    again_by_others: bool = True
    """If unchanged work is graded again, do not offer it to people who judged it before."""
    waive_pilot: str = ""
    """Reason for using instructions without a pilot that reached 85 %; recorded in the round."""
    reason: str = ""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Further versions for the round's record, such as the draw behind its labels."""

    def __post_init__(self) -> None:
        if not self.labels and (self.kind in OVER) != (self.over is not None):
            text = "needs another round to review" if self.over is None else "does not review another round"
            raise UsageError(f"{self.kind} {text}", next="set over= for audits, samples, adjudication and integrity")
        sources = sum((self.experiment is not None, bool(self.subjects), self.kind in OVER))
        self._check_jobs()
        if self.kind is RoundKind.CALIBRATION:
            if not self.gold or sources:
                raise UsageError(
                    "a calibration round needs gold items, and nothing else", next="pass gold=, and no subjects"
                )
        elif not self.labels and sources != 1 and not (self.kind in OVER and self.experiment is None):
            raise UsageError(
                "a round needs either an experiment or subjects", next="pass experiment= or subjects=, one of them"
            )
        if self.kind in FORM_OF and self.form not in (None, FORM_OF[self.kind]):
            raise UsageError(f"a round of kind {self.kind} has a fixed form", next="leave form= out")
        if {id for pair in self.pairs for id in pair} != set(self.subjects) and self.pairs:
            raise UsageError(
                "the pairs and the subjects name different submissions",
                next="pass as subjects= the submissions of the pairs",
            )
        if self.holistic is not None and self.kind is not RoundKind.PAIRWISE:
            raise UsageError(
                "the question whether the work succeeded is asked only in rounds of pairs", next="leave holistic= out"
            )
        if self.protocol is not None and self.protocol not in BY_CRITERIA:
            raise UsageError(f"{self.protocol} has no criteria", next=f"one of {', '.join(sorted(BY_CRITERIA))}")
        if self.overlap is not None and self.overlap < 1:
            raise UsageError(f"the overlap {self.overlap} is too small", next="pass 1 or more")
        if self.most_open < 1:
            raise UsageError(f"most_open = {self.most_open} is too small", next="pass 1 or more")
        if self.lease_minutes <= 0:
            raise UsageError(f"lease_minutes = {self.lease_minutes} is too small", next="pass more than 0 minutes")

    def _check_jobs(self) -> None:
        jobs = self.kind is RoundKind.QUALIFICATION
        if not jobs and (self.questions or self.looks):
            raise UsageError(
                "only rounds that qualify jobs ask questions about jobs", next="leave questions= and looks= out"
            )
        if jobs and (self.experiment is not None or self.gold):
            raise UsageError(
                "a round that qualifies jobs takes its jobs from subjects=, and has no gold items",
                next="leave experiment= and gold= out",
            )
        for _, what in faults_of(self.questions):
            raise UsageError(f"a question is wrong: {what}", next="correct the question, then open the round again")
        if jobs and self.votes[0] not in RULES:
            raise UsageError(
                f"the rule {self.votes[0]} cannot decide which jobs qualify", next=f"one of {', '.join(RULES)}"
            )
        if self.votes[0] is ResolutionRule.VERIFIED and (not jobs or self.votes[1] != 1):
            raise UsageError(
                'the rule "verified" works only for jobs: one vote each, and a second for those that qualify',
                next="leave overlap= out, or choose another rule",
            )

    @property
    def labels(self) -> bool:
        """True if people label a judge's work, without seeing its answers and without changing a verdict."""
        return self.kind in LABELLING and DRAWN in self.versions and None not in (self.over, self.experiment)

    @property
    def votes(self) -> tuple[ResolutionRule, int]:
        rule, overlap = votes_of(self.kind)
        if self.rule is ResolutionRule.TIE_BREAK:
            overlap = 2
        return self.rule or rule, self.overlap or overlap

    def settings(self) -> dict[str, Any]:
        """Return the settings that the queue needs, as JSON."""
        out = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name in ("gold", "subjects", "pairs", "rule", "overlap", "seed", "form", "protocol", "versions"):
            del out[name]
        out["questions"] = [question.plain() for question in self.questions]
        out["roles"] = sorted(self.roles if self.roles is not None else roles_of(self.kind))
        out["kind"] = self.kind.value
        read_roles(out["roles"])
        return out
