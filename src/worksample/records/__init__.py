"""The frozen nouns: task -> trial -> submission -> evaluation -> verdict. Data only, no behaviour beyond arithmetic.

Who needs one of them imports no other: a grader starts in half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .agent import IMPORTED, Agent, Usage
    from .amount import Hours, Source, Value
    from .base import Frozen, Json, Record, canonical, digest_bytes, digest_of, now
    from .criteria import Criteria, Criterion
    from .evaluation import (
        Action,
        Amendment,
        Evaluation,
        Evaluator,
        EvaluatorKind,
        Given,
        Holistic,
        Labels,
        Pairwise,
        Payload,
        Purpose,
        Round,
        Rule,
        Side,
        Tags,
        Target,
    )
    from .experiment import Arm, Chain, Experiment, Feedback, Lock, ShownRubric, Slot, Worker
    from .grade import Grade, GradePart
    from .job import ContractType, Job
    from .kinds import REGISTRY, from_envelope
    from .manifest import Entry, EntryKind, Manifest, path_fault, quote_path, unquote_path
    from .passing import ACCEPTED, FULL, is_accepted, is_full, partial_credit
    from .seat import Act, SeatEvent
    from .submission import CaptureStatus, Origin, Part, Reported, Submission
    from .task import (
        About,
        BrowserSpec,
        Capture,
        CollectSpec,
        Deliverable,
        EndpointSpec,
        Environment,
        Grading,
        HealthSpec,
        HostLists,
        ImageSource,
        Instance,
        Limits,
        McpSpec,
        Paths,
        Protocol,
        ServiceLimits,
        ServiceSpec,
        SourceFiles,
        StepSpec,
        Suite,
        Task,
        Tier,
        Work,
        WorkplaceSource,
    )
    from .trees import By, CheckpointKind, Importance, Skip
    from .trial import Ending, Fed, Outcome, Trial
    from .verdict import AWAITED, JudgedBy, Standing, Verdict, strikes, struck, targets_of

__all__ = [
    "ACCEPTED",
    "AWAITED",
    "FULL",
    "IMPORTED",
    "REGISTRY",
    "About",
    "Act",
    "Action",
    "Agent",
    "Amendment",
    "Arm",
    "BrowserSpec",
    "By",
    "Capture",
    "CaptureStatus",
    "Chain",
    "CheckpointKind",
    "CollectSpec",
    "ContractType",
    "Criteria",
    "Criterion",
    "Deliverable",
    "Ending",
    "EndpointSpec",
    "Entry",
    "EntryKind",
    "Environment",
    "Evaluation",
    "Evaluator",
    "EvaluatorKind",
    "Experiment",
    "Fed",
    "Feedback",
    "Frozen",
    "Given",
    "Grade",
    "GradePart",
    "Grading",
    "HealthSpec",
    "Holistic",
    "HostLists",
    "Hours",
    "ImageSource",
    "Importance",
    "Instance",
    "Job",
    "Json",
    "JudgedBy",
    "Labels",
    "Limits",
    "Lock",
    "Manifest",
    "McpSpec",
    "Origin",
    "Outcome",
    "Pairwise",
    "Part",
    "Paths",
    "Payload",
    "Protocol",
    "Purpose",
    "Record",
    "Reported",
    "Round",
    "Rule",
    "SeatEvent",
    "ServiceLimits",
    "ServiceSpec",
    "ShownRubric",
    "Side",
    "Skip",
    "Slot",
    "Source",
    "SourceFiles",
    "Standing",
    "StepSpec",
    "Submission",
    "Suite",
    "Tags",
    "Target",
    "Task",
    "Tier",
    "Trial",
    "Usage",
    "Value",
    "Verdict",
    "Work",
    "Worker",
    "WorkplaceSource",
    "canonical",
    "digest_bytes",
    "digest_of",
    "from_envelope",
    "is_accepted",
    "is_full",
    "now",
    "partial_credit",
    "path_fault",
    "quote_path",
    "strikes",
    "struck",
    "targets_of",
    "unquote_path",
]

__getattr__ = lazily(__name__)
