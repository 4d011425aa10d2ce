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
    """One submission, the instance's reference, settings and criteria.

    Readers without `ref_` read a deliverable: what is missing or malformed is a DeliverableError, and the part that
    asked for it scores 0. Readers with `ref_` read the reference: what is missing or malformed is a
    ReferenceUnreadable, and the submission stays ungraded. No reader follows links.
    """

    def __init__(
        self, folders: Mapping[str, Path], *, settings: Mapping[str, Any] | None = None,
        criteria: CriteriaTree | None = None, broker: BrokerClient | None = None,
    ) -> None:  # fmt: skip
        """folders: any of `FOLDERS` -> an existing folder."""
        self._folders = {name: Path(path) for name, path in folders.items()}
        self._broker = broker
        self._tables: dict[tuple[str, str, str | int | None], table.Table | WorksampleError] = {}
        self.settings: dict[str, Any] = dict(settings or {})
        self.criteria: CriteriaTree = criteria or CaseCriteria()

    def folder(self, name: str) -> Path:
        """The folder of that name. GraderError where this case has none."""
        if name not in self._folders:
            have = ", ".join(sorted(self._folders))
            raise GraderError(f"this case has no folder {name!r}", next=f"one of {have}", cause=Cause.GRADER_CRASH)
        return self._folders[name]

    def browsed(self) -> Browsed:
        """What was done in the browser; nothing where the submission has no record of one."""
        from .browser_record import Browsed

        return Browsed(self._folders.get("browser"))

    def setting(self, name: str, default: Any = None) -> Any:
        """A setting of the manifest. GraderError where it is missing and no default is given."""
        if name not in self.settings and default is None:
            raise GraderError(
                f"the manifest gives no setting {name!r}",
                cause=Cause.GRADER_CRASH,
                next=f"give it in settings of task.toml ({name} = ...), or pass a default",
            )
        return self.settings.get(name, default)

    def output(self, name: str) -> Path:
        """A deliverable's path. DeliverableError where it is missing, a link, or no regular file."""
        with deliverable(name):
            return file_in(self.folder("output"), name)

    def outputs(self, pattern: str = "*") -> list[str]:
        """Names of all files in the deliverables that match a glob, sorted; links are left out."""
        with deliverable("the deliverables"):
            return files_below(self.folder("output"), pattern)

    def reference(self, name: str) -> Path:
        """A path in the reference. ReferenceUnreadable where it is missing."""
        with reference(name):
            return find(self.folder("reference"), name)

    def references(self, pattern: str = "*") -> list[str]:
        """Names of all files in the reference that match a glob, sorted. ReferenceUnreadable where there are none."""
        with reference(pattern):
            found = files_below(self.folder("reference"), pattern)
            if not found:
                raise UnreadableSource("the reference has no such file")
            return found

    def input(self, name: str) -> Path:
        """A path in the inputs. ReferenceUnreadable where it is missing: the inputs are ours too."""
        with reference(name):
            return find(self.folder("input"), name)

    def probe(self, name: str) -> Any:
        """What a probe found when the trial ended: its JSON value or its text. ReferenceUnreadable where missing."""
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
        """A table of either side, read once however often it is asked for, and found malformed once."""
        key = (side, name, sheet)
        if key not in self._tables:
            owner = FileOwner(DeliverableError if side == "output" else ReferenceUnreadable, name)
            get = self._read_deliverable if side == "output" else self._read_reference
            try:
                found = get(name, lambda path: table.read_table(path, sheet))
                self._tables[key] = found.owned(owner)
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
        """A deliverable's text: UTF-8, with or without mark, UTF-16 with mark, else Latin-1; at most 16 MiB."""
        return self._read_deliverable(name, text.read_text)

    def json(self, name: str, *, like: Any = None) -> Any:
        """A deliverable's JSON value; NaN, infinity, deep nesting and a key asked for in vain are malformed.

        like: the shape that it must have (see `shaped`), such as `{"total": float, "rows": [{"id": str}]}`.
        """
        owner = FileOwner(DeliverableError, name)
        value = self._read_deliverable(name, lambda path: text.read_json(path, owner))
        if like is not None:
            require_shape(value, like, owner)
        return value

    def rows(self, name: str) -> table.Table:
        """A deliverable's table: CSV of any common dialect, or the first sheet of a workbook."""

        return self._table("output", name)

    def sheet(self, name: str, sheet: str | int = 0) -> table.Table:
        """A sheet of a workbook (by name, or position from 0), its first row being the header."""
        return self._table("output", name, sheet)

    def cells(self, name: str, sheet: str | int = 0, *, formulas: bool = False) -> list[list[Any]]:
        """All cells of a workbook's sheet, row by row: values as last computed, or the formulas."""
        from . import workbook

        return self._read_deliverable(name, lambda path: workbook.read_cells(path, sheet, formulas=formulas))

    def xml(self, name: str) -> Element:
        """A deliverable's XML root; document types with entities are malformed."""
        from . import markup

        return self._read_deliverable(name, markup.read_xml)

    def svg(self, name: str) -> Element:
        """The root of an SVG picture."""
        from . import markup

        return self._read_deliverable(name, markup.read_svg)

    def image(self, name: str) -> Image:
        """A picture, decoded and upright; at most 25 million pixels."""
        from . import picture

        return self._read_deliverable(name, picture.read_image)

    def wav(self, name: str) -> Sound:
        """Uncompressed sound."""
        from . import sound

        return self._read_deliverable(name, sound.read_wav)

    def ref_text(self, name: str) -> str:
        """The reference's text."""
        return self._read_reference(name, text.read_text)

    def ref_json(self, name: str) -> Any:
        """The reference's JSON value."""
        owner = FileOwner(ReferenceUnreadable, name)
        return self._read_reference(name, lambda path: text.read_json(path, owner))

    def ref_rows(self, name: str) -> table.Table:
        """The reference's table."""
        return self._table("reference", name)

    def ref_sheet(self, name: str, sheet: str | int = 0) -> table.Table:
        """A sheet of the reference's workbook."""

        return self._table("reference", name, sheet)

    def ref_svg(self, name: str) -> Element:
        """The root of the reference's SVG picture."""
        from . import markup

        return self._read_reference(name, markup.read_svg)

    def ref_image(self, name: str) -> Image:
        """The reference's picture."""
        from . import picture

        return self._read_reference(name, picture.read_image)

    def run(
        self, argv: Sequence[str], *, files: Mapping[str, bytes | str | Path] | None = None, stdin: str = "",
        collect: Sequence[str] = (), timeout: float = 30.0,
    ) -> Ran:  # fmt: skip
        """Runs a program of the agent's in a box of its own: submission and inputs are there, the reference is not.

        It starts in an empty writable folder that holds `files` (name -> content). collect: names of files in that
        folder to bring back. timeout: seconds. A program that fails or hangs is the agent's affair and shows in the
        result; GraderError where no box can be had or nothing answers.
        """
        return self._broker_for("programs are run").run(
            argv, files=files or {}, stdin=stdin, collect=collect, timeout=timeout
        )

    def _broker_for(self, what: str, cause: Cause = Cause.GRADER_SANDBOX) -> BrokerClient:
        """Out of the grading sandbox. GraderError where the grader is run without one."""
        if self._broker is None:
            raise GraderError(f"{what} by the grading sandbox only", cause=cause, next="worksample task check FOLDER")
        return self._broker

    def services(self) -> Services:
        """The workplace's services, over what the agent left. GraderError where the grading asks for none."""
        from .live_services import Services

        return Services.here()

    def verify(self, step: str = "", timeout: float | None = None) -> Ran:
        """Runs the verifier of the grading's settings in a box over the root that the agent left, and brings back the
        reward's files. GraderError where no box can be had or nothing answers.

        step: of a task with steps, whose verifier, over what was there after it. timeout: seconds that it has.
        """
        return self._broker_for("verifiers are run").verify(timeout or float(self.settings.get("timeout", 120.0)), step)

    def ask(
        self, question: str, *exhibits: Any, kind: str = "yes_no", options: Sequence[str] = (),
        items: Mapping[str, str] | None = None, fields: Mapping[str, Mapping[str, Any]] | None = None,
        second: Sequence[Any] = (), role: str = "", quotes: bool = True,
    ) -> Judged:  # fmt: skip
        """Asks a judge model about `exhibits`: texts, `Shown`, pictures, or paths of this case's files.

        kind: yes_no, choice (of `options`), checklist (of `items`), fields (name -> {"type": ...}), or pair (the
        exhibits against those of `second`). role: which judge; by default `judge`. quotes: what it affirms has to be
        quoted from a text that it was shown. GraderError where no judge is configured or none gives an answer: the
        submission stays ungraded, and no grade is taken from a grader that goes on without it.
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
        """A file of this case as an exhibit; what cannot be read is the fault of whose it is."""
        from . import judge_questions as ask

        for side, folder in self._folders.items():
            if path.is_relative_to(folder):
                name = str(path.relative_to(folder))
                with (reference if side in ("reference", "input", "grader") else deliverable)(name):
                    return {**ask.file_exhibit(path, name), "side": side if side == "reference" else ""}
        raise GraderError(
            f"{path} lies in no folder of this case",
            cause=Cause.GRADER_CRASH,
            next="pass a path of case.output, case.reference or case.input",
        )
