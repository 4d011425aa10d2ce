"""The `Case`: a submission as its grader sees it."""

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
    from .desktop_record import DesktopRecord
    from .judge_questions import Judged
    from .live_services import Services
    from .sound import Sound

T = TypeVar("T")

FOLDERS = (
    "output",
    "reference",
    "input",
    "software",
    "probes",
    "exports",
    "trajectory",
    "browser",
    "desktop",
    "grader",
)


class Case:
    """A submission, together with the instance's inputs, reference, settings and criteria.

    Methods without the prefix `ref_` read a deliverable. A missing or malformed deliverable raises DeliverableError:
    the part of the grade that reads the deliverable scores 0. Methods with the prefix `ref_` read the reference. A
    missing or malformed reference raises ReferenceUnreadable: the submission stays ungraded. No method follows symbolic
    links.
    """

    def __init__(
        self, folders: Mapping[str, Path], *, settings: Mapping[str, Any] | None = None,
        criteria: CriteriaTree | None = None, broker: BrokerClient | None = None,
    ) -> None:  # fmt: skip
        """Create a case. folders: paths of existing folders, by the names in `FOLDERS`."""
        self._folders = {name: Path(path) for name, path in folders.items()}
        self._broker = broker
        self._tables: dict[tuple[str, str, str | int | None], table.Table | WorksampleError] = {}
        self.settings: dict[str, Any] = dict(settings or {})
        self.criteria: CriteriaTree = criteria or CaseCriteria()

    def folder(self, name: str) -> Path:
        """Return the path of the folder `name`. Raises GraderError if this case has no folder of that name."""
        if name not in self._folders:
            have = ", ".join(sorted(self._folders))
            raise GraderError(f"this case has no folder {name!r}", next=f"one of {have}", cause=Cause.GRADER_CRASH)
        return self._folders[name]

    def browsed(self) -> Browsed:
        """Return the record of the agent's browser. The record is empty if the agent used no browser."""
        from .browser_record import Browsed

        return Browsed(self._folders.get("browser"))

    def desktop(self) -> DesktopRecord:
        """Return the record of the agent's desktop. The record is empty if the agent used no desktop."""
        from .desktop_record import DesktopRecord

        return DesktopRecord(self._folders.get("desktop"))

    def setting(self, name: str, default: Any = None) -> Any:
        """Return a grader setting from the task's `task.toml`. Raises GraderError if the setting is missing and no
        default is passed.
        """
        if name not in self.settings and default is None:
            raise GraderError(
                f"the manifest has no setting {name!r}",
                cause=Cause.GRADER_CRASH,
                next=f"give it in settings of task.toml ({name} = ...), or pass a default",
            )
        return self.settings.get(name, default)

    def output(self, name: str) -> Path:
        """Return the path of a deliverable. Raises DeliverableError if the deliverable is missing, is a symbolic link,
        or is not a regular file.
        """
        with deliverable(name):
            return file_in(self.folder("output"), name)

    def outputs(self, pattern: str = "*") -> list[str]:
        """Return the names of all deliverables that match a glob, in alphabetical order. Symbolic links are left
        out.
        """
        with deliverable("the deliverables"):
            return files_below(self.folder("output"), pattern)

    def reference(self, name: str) -> Path:
        """Return the path of a file in the reference. Raises ReferenceUnreadable if the file is missing."""
        with reference(name):
            return find(self.folder("reference"), name)

    def references(self, pattern: str = "*") -> list[str]:
        """Return the names of all files in the reference that match a glob, in alphabetical order. Raises
        ReferenceUnreadable if no file matches.
        """
        with reference(pattern):
            found = files_below(self.folder("reference"), pattern)
            if not found:
                raise UnreadableSource("the reference has no such file")
            return found

    def input(self, name: str) -> Path:
        """Return the path of an input file. Raises ReferenceUnreadable if the file is missing: inputs belong to the
        task, so the agent is not to blame.
        """
        with reference(name):
            return find(self.folder("input"), name)

    def probe(self, name: str) -> Any:
        """Return the result of a probe, a command that ran in the agent's box when the trial ended.

        The result is the JSON value that the command printed, or its text if the output is not JSON. Raises
        ReferenceUnreadable if the result is missing.
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
        """Return a table from a deliverable or from the reference, as `side` says.

        Each file is read only once. If reading failed, every further call raises the same error again.
        """
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
        """Return the text of a deliverable of at most 16 MiB.

        The encoding is detected: a byte order mark decides it, and UTF-16 without such a mark is recognised. Other
        files are read as UTF-8, or as Latin-1 if they are not valid UTF-8.
        """
        return self._read_deliverable(name, text.read_text)

    def json(self, name: str, *, like: Any = None) -> Any:
        """Return the JSON value of a deliverable. Raises DeliverableError if the file contains NaN or infinity, or is
        nested too deeply.

        Objects in the value raise DeliverableError if the grader reads a key that they lack. like: the required shape
        (see `require_shape`), such as `{"total": float, "rows": [{"id": str}]}`; a value of another shape raises
        DeliverableError.
        """
        owner = FileOwner(DeliverableError, name)
        value = self._read_deliverable(name, lambda path: text.read_json(path, owner))
        if like is not None:
            require_shape(value, like, owner)
        return value

    def rows(self, name: str) -> table.Table:
        """Return a deliverable as a table. The file is a CSV file of any common dialect, or a workbook, of which the
        first sheet is read.
        """

        return self._table("output", name)

    def sheet(self, name: str, sheet: str | int = 0) -> table.Table:
        """Return one sheet of a workbook as a table. The first row is the header. sheet: the name of the sheet, or its
        position from 0.
        """
        return self._table("output", name, sheet)

    def cells(self, name: str, sheet: str | int = 0, *, formulas: bool = False) -> list[list[Any]]:
        """Return all cells of a workbook's sheet, row by row. Each cell holds the stored value, or the formula if
        `formulas` is true.
        """
        from . import workbook

        return self._read_deliverable(name, lambda path: workbook.read_cells(path, sheet, formulas=formulas))

    def xml(self, name: str) -> Element:
        """Return the root element of an XML deliverable. Raises DeliverableError if the document type of the file
        declares entities.
        """
        from . import markup

        return self._read_deliverable(name, markup.read_xml)

    def svg(self, name: str) -> Element:
        """Return the root element of an SVG deliverable."""
        from . import markup

        return self._read_deliverable(name, markup.read_svg)

    def image(self, name: str) -> Image:
        """Return a picture deliverable, decoded and turned upright. Raises DeliverableError if the picture has more
        than 25 million pixels.
        """
        from . import picture

        return self._read_deliverable(name, picture.read_image)

    def wav(self, name: str) -> Sound:
        """Return the samples of an uncompressed sound file (`.wav`)."""
        from . import sound

        return self._read_deliverable(name, sound.read_wav)

    def ref_text(self, name: str) -> str:
        """Return the text of a file in the reference."""
        return self._read_reference(name, text.read_text)

    def ref_json(self, name: str) -> Any:
        """Return the JSON value of a file in the reference."""
        owner = FileOwner(ReferenceUnreadable, name)
        return self._read_reference(name, lambda path: text.read_json(path, owner))

    def ref_rows(self, name: str) -> table.Table:
        """Return a file in the reference (CSV or the first sheet of a workbook) as a table."""
        return self._table("reference", name)

    def ref_sheet(self, name: str, sheet: str | int = 0) -> table.Table:
        """Return one sheet of a workbook in the reference as a table. sheet: the name of the sheet, or its position
        from 0.
        """

        return self._table("reference", name, sheet)

    def ref_svg(self, name: str) -> Element:
        """Return the root element of an SVG picture in the reference."""
        from . import markup

        return self._read_reference(name, markup.read_svg)

    def ref_image(self, name: str) -> Image:
        """Return a picture in the reference, decoded and turned upright."""
        from . import picture

        return self._read_reference(name, picture.read_image)

    def run(
        self, argv: Sequence[str], *, files: Mapping[str, bytes | str | Path] | None = None, stdin: str = "",
        collect: Sequence[str] = (), timeout: float = 30.0,
    ) -> Ran:  # fmt: skip
        """Run a program of the agent in a separate box. The box contains the submission and the inputs, but not the
        reference.

        files: the content of the writable folder in which the program starts, as name -> content. collect: names of
        files in that folder to return after the run. timeout: seconds. If the program fails or hangs, the agent is to
        blame: no error is raised, and the result shows the failure. Raises GraderError if no box can be started or if
        the broker does not answer.
        """
        return self._broker_for("programs are run").run(
            argv, files=files or {}, stdin=stdin, collect=collect, timeout=timeout
        )

    def _broker_for(self, what: str, cause: Cause = Cause.GRADER_SANDBOX) -> BrokerClient:
        """Return the connection to the broker. Raises GraderError if the grader runs without a broker, for example in a
        plain process. what: the action that needs the broker, for the error message.
        """
        if self._broker is None:
            raise GraderError(
                f"{what} only if the grader runs in a grading sandbox", cause=cause, next="worksample task check FOLDER"
            )
        return self._broker

    def services(self) -> Services:
        """Return a client for the workplace's services, which run over the state that the agent left. Raises
        GraderError if the task's grading settings do not request the services.
        """
        from .live_services import Services

        return Services.here()

    def verify(self, step: str = "", timeout: float | None = None) -> Ran:
        """Run the task's verifier in a box with the root file system that the agent left, and collect the reward files.

        step: the step to verify, if the task has steps. The box then has the root file system as it was after that
        step. timeout: seconds that the verifier may take. Raises GraderError if no box can be started or if the broker
        does not answer.
        """
        return self._broker_for("verifiers are run").verify(timeout or float(self.settings.get("timeout", 120.0)), step)

    def ask(
        self, question: str, *exhibits: Any, kind: str = "yes_no", options: Sequence[str] = (),
        items: Mapping[str, str] | None = None, fields: Mapping[str, Mapping[str, Any]] | None = None,
        second: Sequence[Any] = (), role: str = "", quotes: bool = True,
    ) -> Judged:  # fmt: skip
        """Ask a judge model a question about `exhibits`: texts, `Shown` objects, pictures, or paths of files of this
        case.

        kind: the form of the answer: `yes_no`, `choice` (one of `options`), `checklist` (yes or no for each of
        `items`), `fields` (name -> {"type": ...}), or `pair` (a comparison of `exhibits` with the exhibits in
        `second`). role: the name of the judge, by default `judge`. quotes: whether the judge must support each positive
        statement with a quote from an exhibit.

        Raises GraderError if no judge is configured or if no judge answers. The submission then stays ungraded, even if
        the grader catches the error and returns a grade.
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
        """Return a file of this case as an exhibit for a judge model. Raises DeliverableError for an unreadable
        deliverable; ReferenceUnreadable for an unreadable file of the task.
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
