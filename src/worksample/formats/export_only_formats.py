"""Formats that are only exported, from the records of a store: ATIF trajectories and training data."""

from __future__ import annotations

from .interface import STORE, ExchangeFormat, FormatOption, ReportLine, Transfer, TransferReport, TransferRequest


def _export_atif(request: TransferRequest) -> TransferReport:
    from .atif import export_trajectories

    assert request.out is not None
    with request.open_store(request.options.get("store")) as store:
        experiment = request.find_experiment(store, request.text("experiment"))
        written = [str(path) for path in export_trajectories(store, experiment.id, request.out)]
    return TransferReport(written, tuple(map(ReportLine, written)))


def _export_training(request: TransferRequest) -> TransferReport:
    from worksample.records import Experiment

    from .training_data import export_training

    assert request.out is not None
    name, form = request.text("experiment"), request.text("format") or "jsonl"
    with request.open_store(request.options.get("store")) as store:
        chosen = [request.find_experiment(store, name)] if name else store.find(Experiment)
        export = export_training(store, request.out, chosen, format=form, private=request.flag("private"))
    lines = [ReportLine(f"{path}  {n} rows") for path, n in zip(export.files, export.rows.values(), strict=True)]
    if export.private:
        lines.append(
            ReportLine(f"  {export.private} rows of private suites were left out; add --private to include them")
        )
    plain = {"rows": export.rows, "private": export.private, "files": [str(path) for path in export.files]}
    return TransferReport(plain, tuple(lines))


ATIF = ExchangeFormat(
    "atif",
    "Agent Trajectory Interchange Format (Harbor RFC 0001)",
    exporter=Transfer(
        "Write an experiment's trajectories as ATIF, one folder per trial.",
        """Write the trajectories of an experiment as ATIF below the folder OUT, one folder per trial.

        Each folder holds trajectory.json and the pictures that it names. A trial whose sandbox never started has no
        trajectory.
        """,
        _export_atif,
        (FormatOption("experiment", "Name or id; default: the latest.", value="NAME"), STORE),
    ),
)
TRAINING = ExchangeFormat(
    "training",
    "Feedback, preference pairs and rewards as training data",
    exporter=Transfer(
        "Write feedback, preference pairs and rewards for a model to learn from.",
        """Write feedback, preference pairs and rewards into the folder OUT, for a model to learn from.

        Each row carries the task's licence, provenance and canary. Struck work is left out, and so is the work of
        private suites.
        """,
        _export_training,
        (
            FormatOption("format", "jsonl (default) or parquet.", value="NAME"),
            FormatOption("experiment", "Name or id; default: all experiments.", value="NAME"),
            FormatOption("private", "Include private suites."),
            STORE,
        ),
    ),
)
