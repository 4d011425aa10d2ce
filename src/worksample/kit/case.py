"""A submission as its grader sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from worksample.errors import Cause, DeliverableError, GraderError, ReferenceUnreadable, WorksampleError
from worksample.records.grade_tree import CriteriaTree

from . import table, text
from .broker_client import BrokerClient, Ran
from .criteria import CaseCriteria
from .json_shape import require_shape
from .source import FileOwner, UnreadableSource, deliverable, file_in, files_below, find, reference

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from PIL.Image import Image

    from .browser_record import Browsed
    from .judge_questions import Judged
    from .live_services import Services
    from .sound import Sound

T = TypeVar("T")

FOLDERS = ("output", "reference", "input", "software", "probes", "exports", "trajectory", "browser", "grader")


class Case:
    """A submission with the instance's inputs, reference, settings and criteria.

    Readers without `ref_` read a deliverable: a missing or malformed one raises DeliverableError, and the part that
    reads it scores 0. Readers with `ref_` read the reference: a missing or malformed one raises ReferenceUnreadable,
    and the submission stays ungraded. No reader follows links.
    """

    def __init__(
        self, folders: Mapping[str, Path], *, settings: Mapping[str, Any] | None = None,
        criteria: CriteriaTree | None = None, broker: BrokerClient | None = None,
    ) -> None:  # fmt: skip
        """folders: paths of existing folders, by names of `FOLDERS`."""
        self._folders = {name: Path(path) for name, path in folders.items()}
        self._broker = broker
        self._tables: dict[tuple[str, str, str | int | None], table.Table | WorksampleError] = {}
        self.settings: dict[str, Any] = dict(settings or {})
        self.criteria: CriteriaTree = criteria or CaseCriteria()

    def folder(self, name: str) -> Path:
        """Return the folder of that name. Raises GraderError if this case has none."""
        if name not in self._folders:
            have = ", ".join(sorted(self._folders))
            raise GraderError(f"this case has no folder {name!r}", next=f"one of {have}", cause=Cause.GRADER_CRASH)
        return self._folders[name]

    def browsed(self) -> Browsed:
        """Return the record of the agent's browser; it is empty if the submission has none."""
        from .browser_record import Browsed

        return Browsed(self._folders.get("browser"))

    def setting(self, name: str, default: Any = None) -> Any:
        """Return a setting of the manifest. Raises GraderError if it is missing and no default is given."""
        if name not in self.settings and default is None:
            raise GraderError(
                f"the manifest has no setting {name!r}",
                cause=Cause.GRADER_CRASH,
                next=f"give it in settings of task.toml ({name} = ...), or pass a default",
            )
        return self.settings.get(name, default)

    def output(self, name: str) -> Path:
        """Return a deliverable's path. Raises DeliverableError if it is missing, a link, or not a regular file."""
        with deliverable(name):
            return file_in(self.folder("output"), name)

    def outputs(self, pattern: str = "*") -> list[str]:
        """Return the names of all deliverables that match a glob, sorted, without links."""
        with deliverable("the deliverables"):
            return files_below(self.folder("output"), pattern)

    def reference(self, name: str) -> Path:
        """Return a path in the reference. Raises ReferenceUnreadable if it is missing."""
        with reference(name):
            return find(self.folder("reference"), name)

    def references(self, pattern: str = "*") -> list[str]:
        """Return the names of all files in the reference that match a glob, sorted. Raises ReferenceUnreadable if none
        does.
        """
        with reference(pattern):
            found = files_below(self.folder("reference"), pattern)
            if not found:
                raise UnreadableSource("the reference has no such file")
            return found

    def input(self, name: str) -> Path:
        """Return a path in the inputs. Raises ReferenceUnreadable if it is missing: the inputs belong to the task, so
        the agent is not to blame.
        """
        with reference(name):
            return find(self.folder("input"), name)

    def probe(self, name: str) -> Any:
        """Return the result of a probe that ran when the trial ended: its JSON value, or its text. Raises
        ReferenceUnreadable if it is missing.
        """
        with reference(f"probe {name}"):
            folder = self._folders.get("probes")
            if folder is None:
                raise UnreadableSource("this submission has no probes")
            for ending in ("", ".json", ".txt"):
                path = folder / (name + ending)
                if path.is_file() and not path.is_symlink():
                    found = text.read_text(path)
                    try:
                        return text.parse_json(found)
                    except UnreadableSource:
                        return found
            raise UnreadableSource("is missing")

    def _table(self, side: str, name: str, sheet: str | int | None = None) -> table.Table:
        """Return a table of either side. The file is read once; a fault is remembered and raised again."""
        from . import workbook

        key = (side, name, sheet)
        if key not in self._tables:
            owner = FileOwner(DeliverableError if side == "output" else ReferenceUnreadable, name)
            get = self._read_deliverable if side == "output" else self._read_reference
            try:
                found = get(name, lambda path: workbook.read_table(path, sheet))
                self._tables[key] = found.with_owner(owner)
            except owner.fault as error:
                self._tables[key] = error
        held = self._tables[key]
        if isinstance(held, table.Table):
            return held
        raise held

    def _read_deliverable(self, name: str, read: Callable[[Path], T]) -> T:
        path = self.output(name)
        with deliverable(name):
            return read(path)

    def _read_reference(self, name: str, read: Callable[[Path], T]) -> T:
        path = self.reference(name)
        with reference(name):
            return read(path)

    def text(self, name: str) -> str:
        """Return a deliverable's text: UTF-8 with or without a byte order mark, UTF-16 with one, else Latin-1; at most
        16 MiB.
        """
        return self._read_deliverable(name, text.read_text)

    def json(self, name: str, *, like: Any = None) -> Any:
        """Return a deliverable's JSON value. Raises DeliverableError for NaN, infinity and deep nesting, and later for
        each key that the grader reads and an object lacks.

        like: the required shape (see `require_shape`), such as `{"total": float, "rows": [{"id": str}]}`.
        """
        owner = FileOwner(DeliverableError, name)
        value = self._read_deliverable(name, lambda path: text.read_json(path, owner))
        if like is not None:
            require_shape(value, like, owner)
        return value

    def rows(self, name: str) -> table.Table:
        """Return a deliverable's table: CSV of any common dialect, or the first sheet of a workbook."""

        return self._table("output", name)

    def sheet(self, name: str, sheet: str | int = 0) -> table.Table:
        """Return a sheet of a workbook (by name, or by position from 0) as a table; its first row is the header."""
        return self._table("output", name, sheet)

    def cells(self, name: str, sheet: str | int = 0, *, formulas: bool = False) -> list[list[Any]]:
        """Return all cells of a workbook's sheet, row by row: the values as last computed, or the formulas."""
        from . import workbook

        return self._read_deliverable(name, lambda path: workbook.read_cells(path, sheet, formulas=formulas))

    def xml(self, name: str) -> Element:
        """Return the root element of an XML deliverable. Raises DeliverableError if its document type declares
        entities.
        """
        from . import markup

        return self._read_deliverable(name, markup.read_xml)

    def svg(self, name: str) -> Element:
        """Return the root element of an SVG deliverable."""
        from . import markup

        return self._read_deliverable(name, markup.read_svg)

    def image(self, name: str) -> Image:
        """Return a picture, decoded and upright; at most 25 million pixels."""
        from . import picture

        return self._read_deliverable(name, picture.read_image)

    def wav(self, name: str) -> Sound:
        """Return uncompressed sound."""
        from . import sound

        return self._read_deliverable(name, sound.read_wav)

    def ref_text(self, name: str) -> str:
        """Return the text of a file of the reference."""
        return self._read_reference(name, text.read_text)

    def ref_json(self, name: str) -> Any:
        """Return the JSON value of a file of the reference."""
        owner = FileOwner(ReferenceUnreadable, name)
        return self._read_reference(name, lambda path: text.read_json(path, owner))

    def ref_rows(self, name: str) -> table.Table:
        """Return a table of the reference."""
        return self._table("reference", name)

    def ref_sheet(self, name: str, sheet: str | int = 0) -> table.Table:
        """Return a sheet of a workbook of the reference as a table."""

        return self._table("reference", name, sheet)

    def ref_svg(self, name: str) -> Element:
        """Return the root element of an SVG picture of the reference."""
        from . import markup

        return self._read_reference(name, markup.read_svg)

    def ref_image(self, name: str) -> Image:
        """Return a picture of the reference."""
        from . import picture

        return self._read_reference(name, picture.read_image)

    def run(
        self, argv: Sequence[str], *, files: Mapping[str, bytes | str | Path] | None = None, stdin: str = "",
        collect: Sequence[str] = (), timeout: float = 30.0,
    ) -> Ran:  # fmt: skip
        """Run a program of the agent in a separate box with the submission and the inputs, but without the reference.

        The program starts in an empty writable folder that holds `files` (name -> content). collect: names of files in
        that folder to bring back. timeout: seconds. A program that fails or hangs is the agent's fault and shows in the
        result. Raises GraderError if no box can be started or the broker does not answer.
        """
        return self._broker_for("programs are run").run(
            argv, files=files or {}, stdin=stdin, collect=collect, timeout=timeout
        )

    def _broker_for(self, what: str, cause: Cause = Cause.GRADER_SANDBOX) -> BrokerClient:
        """Return the connection to the broker. Raises GraderError if the grader runs without a grading sandbox."""
        if self._broker is None:
            raise GraderError(
                f"{what} only if the grader runs in a grading sandbox", cause=cause, next="worksample task check FOLDER"
            )
        return self._broker

    def services(self) -> Services:
        """Return the workplace's services, running over the state that the agent left. Raises GraderError if the
        grading does not request them.
        """
        from .live_services import Services

        return Services.here()

    def verify(self, step: str = "", timeout: float | None = None) -> Ran:
        """Run the grading's verifier in a box over the root that the agent left, and collect the files of its reward.
        Raises GraderError if no box can be started or the broker does not answer.

        step: for a task with steps, the step to verify, over the root as it was after that step. timeout: seconds that
        the verifier may take.
        """
        return self._broker_for("verifiers are run").verify(timeout or float(self.settings.get("timeout", 120.0)), step)

    def ask(
        self, question: str, *exhibits: Any, kind: str = "yes_no", options: Sequence[str] = (),
        items: Mapping[str, str] | None = None, fields: Mapping[str, Mapping[str, Any]] | None = None,
        second: Sequence[Any] = (), role: str = "", quotes: bool = True,
    ) -> Judged:  # fmt: skip
        """Ask a judge model about `exhibits`: texts, `Shown`, pictures, or paths of this case's files.

        kind: yes_no, choice (of `options`), checklist (of `items`), fields (name -> {"type": ...}), or pair (the
        exhibits against those of `second`). role: the name of the judge, by default `judge`. quotes: whether the judge
        must support what it affirms with a quote from an exhibit. Raises GraderError if no judge is configured or none
        answers: the submission then stays ungraded, even if the grader catches the error and returns a grade.
        """
        from . import judge_questions as ask

        way = self._broker_for("judges are asked", Cause.JUDGE_LACKS)
        body = ask.request(
            kind, question, exhibits, self._file_exhibit, options=options, items=items, fields=fields, second=second,
            role=role, quotes=quotes,
        )  # fmt: skip
        said = way.ask("ask", body, patience=ask.PATIENCE)
        return ask.Judged(said["value"], said["reason"], tuple(said["quotes"]))

    def _file_exhibit(self, path: Path) -> dict[str, Any]:
        """Return a file of this case as an exhibit. An unreadable file raises the error of its owner: DeliverableError
        or ReferenceUnreadable.
        """
        from . import judge_questions as ask

        for side, folder in self._folders.items():
            if path.is_relative_to(folder):
                name = str(path.relative_to(folder))
                with (reference if side in ("reference", "input", "grader") else deliverable)(name):
                    return {**ask.file_exhibit(path, name), "side": side if side == "reference" else ""}
        raise GraderError(
            f"{path} is outside the folders of this case",
            cause=Cause.GRADER_CRASH,
            next="pass a path of case.output, case.reference or case.input",
        )
