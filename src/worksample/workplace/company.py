"""A simulated company as its folder describes it: people, channels with their history, projects, repositories,
calendars.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from worksample.files.config_files import AllowedText, Day, Flag, Line, Texts, value_fault
from worksample.records import Frozen

from .colleagues.colleague_profile import At, Colleague

MOST_MESSAGES, MOST_ISSUES, MOST_COMMITS = 50_000, 50_000, 5_000
"""Maximum messages of a channel, issues of a project, and commits of a repository."""
RESERVED = ("operator", "admin", "everyone", "root", "git")
"""Account names that people of a company cannot have, because the workplace uses them."""


def _account(name: str) -> str:
    if name in RESERVED:
        raise value_fault("is a name that the workplace itself uses")
    return name


Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AllowedText("lower case letters, digits, _ and -")]
Account = Annotated[Name, AfterValidator(_account)]
Token = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{8,100}$")]
Alias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.@-]{0,79}$")]
Text = Annotated[str, Field(min_length=1, max_length=100_000), AllowedText("text")]


Uuid = Annotated[
    str,
    Field(pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$"),
    AllowedText("an id such as 8e15a7e6-635a-..."),
]


class Person(Frozen):
    """An entry of `[[person]]`: a person with an account in every service."""

    id: Account
    name: Line
    role: Line
    responsibilities: str = ""
    project: Name | None = None
    password: Annotated[
        str, Field(pattern=r"^[!-9;-~]{8,64}$"), AllowedText("8 to 64 characters, no blank and no colon")
    ] = ""
    """Password of the account, for an account that is given to an agent. If empty, the account gets a random password
    that is told to nobody in the workplace.
    """
    tokens: Annotated[
        tuple[Token, ...], Field(max_length=8), AllowedText("at most 8 tokens of 8 to 100 characters")
    ] = ()
    """Access tokens of this account, for the dialects (APIs of other products) that use tokens."""
    also: Annotated[tuple[Alias, ...], Field(max_length=8), AllowedText("at most 8 names")] = ()
    """Further names with which this account can log in through the dialects (APIs of other products)."""
    admin: Flag = False
    """Whether the account administers tracker and chat: it makes and deletes projects, people and channels."""
    bio: str = ""
    """What the person says about themselves in their profile of the chat, in Rocket.Chat's dialect."""
    plane: Uuid = ""
    """Id of the person in Plane's dialect. If empty, the id is derived."""


class SeedMessage(Frozen):
    """An entry of `[[message]]` of a channel."""

    at: At
    by: Name
    text: Text


class Channel(Frozen):
    """The content of `channels/NAME.toml`: a room, its members and its messages."""

    topic: str = ""
    members: Annotated[tuple[Name, ...], AllowedText("a list of people's ids")] | None = None
    """Ids of the members of the channel. If left out, everybody is a member."""
    open: Flag = False
    """Whether people who are not members can also find, read and write to the channel."""
    owners: Annotated[tuple[Name, ...], AllowedText("a list of people's ids")] = ()
    """People who may change the members and the topic of the channel. Owners need not be members."""
    moderators: Annotated[tuple[Name, ...], AllowedText("a list of people's ids")] = ()
    """Members who are shown as moderators of the channel in Rocket.Chat's dialect."""
    leaders: Annotated[tuple[Name, ...], AllowedText("a list of people's ids")] = ()
    """Members who are shown as leaders of the channel in Rocket.Chat's dialect."""
    message: Annotated[tuple[SeedMessage, ...], Field(max_length=MOST_MESSAGES), AllowedText("tables")] = ()


class Sprint(Frozen):
    """An entry of `[[sprint]]` of a project. It becomes a version in the tracker."""

    name: Line
    begins: Day
    ends: Day
    closed: Flag = False
    plane: Uuid = ""
    """Id of the sprint as a cycle in Plane's dialect. If empty, the id is derived."""


class Comment(Frozen):
    """An entry of `[[issue.comment]]`: a comment on an issue."""

    at: At
    by: Name
    text: Text


STATUSES = ("New", "In Progress", "Resolved", "Feedback", "Closed", "Rejected")
TRACKERS = ("Bug", "Feature", "Support")
PRIORITIES = ("Low", "Normal", "High", "Urgent", "Immediate")


class SeedIssue(Frozen):
    """An entry of `[[issue]]` of a project. Issues are numbered across all projects: projects are sorted by name, and
    the issues of a project follow in the order of its file.
    """

    subject: Annotated[str, Field(min_length=1, max_length=255), AllowedText("a line of at most 255 characters")]
    by: Name
    at: At
    text: str = ""
    tracker: Annotated[str, Field(pattern=f"^({'|'.join(TRACKERS)})$"), AllowedText(", ".join(TRACKERS))] = "Feature"
    status: Annotated[str, Field(pattern=f"^({'|'.join(STATUSES)})$"), AllowedText(", ".join(STATUSES))] = "New"
    priority: Annotated[str, Field(pattern=f"^({'|'.join(PRIORITIES)})$"), AllowedText(", ".join(PRIORITIES))] = (
        "Normal"
    )
    assigned: Name | None = None
    sprint: str = ""
    due: Day | None = None
    estimate: Annotated[float, Field(ge=0, le=10_000), AllowedText("hours")] | None = None
    comment: Annotated[tuple[Comment, ...], AllowedText("tables")] = ()
    number: Annotated[int, Field(ge=1, le=10_000_000), AllowedText("a number from 1")] | None = None
    """Number of the issue in GitLab's dialect, unique in its project. It is also the tracker's number, unless an issue
    of another project has it already.
    """
    labels: Texts = ()
    """Labels of the issue in the dialects of GitLab and Plane."""
    plane: Uuid = ""
    """Id of the issue in Plane's dialect. If empty, the id is derived."""


class SeedLabel(Frozen):
    """An entry of `[[label]]` of a project: a label with its colour. Labels that issues name need no entry."""

    name: Line
    colour: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$"), AllowedText("a colour such as #6699cc")] = "#6699cc"
    about: str = ""


MERGE_STATES, CHECK_STATES = ("opened", "closed", "merged"), ("pending", "running", "success", "failed", "canceled")
Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,99}$"), AllowedText("a branch's name")]


class SeedMergeRequest(Frozen):
    """An entry of `[[merge_request]]` of a project whose repository has the same name."""

    title: Annotated[str, Field(min_length=1, max_length=255), AllowedText("a line of at most 255 characters")]
    by: Name
    at: At
    source: Branch
    target: Branch = "main"
    text: str = ""
    state: Annotated[str, Field(pattern=f"^({'|'.join(MERGE_STATES)})$"), AllowedText(", ".join(MERGE_STATES))] = (
        "opened"
    )
    number: Annotated[int, Field(ge=1, le=10_000_000), AllowedText("a number from 1")] | None = None
    labels: Texts = ()
    assigned: Name | None = None
    checks: dict[
        str,
        Annotated[str, Field(pattern=f"^({'|'.join(CHECK_STATES)})$"), AllowedText(", ".join(CHECK_STATES))],
    ] = {}
    """State of each check of the source branch's last commit, by the check's name."""
    comment: Annotated[tuple[Comment, ...], AllowedText("tables")] = ()


ROLES = ("Manager", "Developer", "Reporter")


class SeedPage(Frozen):
    """A page of a project's wiki, from the file `wiki/PROJECT/Title.md`."""

    title: str
    text: str


class ProjectTable(Frozen):
    """The content of `projects/NAME.toml`."""

    title: Line
    about: str = ""
    members: Annotated[tuple[Name, ...], AllowedText("a list of people's ids")] = ()
    """Ids of the members of the project. If empty, everybody is a member."""
    sprint: Annotated[tuple[Sprint, ...], AllowedText("tables")] = ()
    issue: Annotated[tuple[SeedIssue, ...], Field(max_length=MOST_ISSUES), AllowedText("tables")] = ()
    roles: dict[Name, Annotated[str, Field(pattern=f"^({'|'.join(ROLES)})$"), AllowedText(", ".join(ROLES))]] = {}
    """Role of members who are not developers, by their id."""
    label: Annotated[tuple[SeedLabel, ...], AllowedText("tables")] = ()
    merge_request: Annotated[tuple[SeedMergeRequest, ...], Field(max_length=5_000), AllowedText("tables")] = ()
    plane: Uuid = ""
    """Id of the project in Plane's dialect. If empty, the id is derived."""


class SeedProject(ProjectTable):
    """A project's table with the project's name and its wiki pages by title."""

    id: str
    pages: tuple[SeedPage, ...] = ()


class SeedCommit(Frozen):
    """An entry of `[[commit]]` of a repository."""

    at: At
    by: Name
    message: Text
    files: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,80}$"), AllowedText("a folder beside it")] = ""
    """Name of a folder in `repositories/NAME/`. Its files are put over the files of the commit before."""
    remove: Texts = ()
    branch: Branch | None = None
    """Branch of the commit; the default branch if left out. A new branch begins at the default branch."""
    tag: Annotated[str, Field(pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?$"), AllowedText("a tag's name")] = ""
    release: str = ""
    """Name of a release at this commit, with its notes in further lines. Needs `tag`."""


class SeedRepository(Frozen):
    """The content of `repositories/NAME.toml`: a git repository with its history."""

    about: str = ""
    default: Branch = "main"
    """Name of the default branch."""
    commit: Annotated[
        tuple[SeedCommit, ...], Field(min_length=1, max_length=MOST_COMMITS), AllowedText("tables, at least one")
    ]


class SeedEvent(Frozen):
    """An entry of `[[event]]` of a person's calendar."""

    title: Line
    begins: At
    ends: At
    place: str = ""
    text: str = ""
    with_: Annotated[tuple[Name, ...], AllowedText("a list of people's ids")] = Field(default=(), alias="with")


class Calendar(Frozen):
    """The content of `calendars/PERSON.toml`."""

    event: Annotated[tuple[SeedEvent, ...], Field(max_length=20_000), AllowedText("tables")] = ()


class CompanyTable(Frozen):
    """The content of `company.toml`."""

    name: Line
    about: str = ""
    today: At
    """The moment at which the company's history ends."""
    person: Annotated[tuple[Person, ...], Field(min_length=1, max_length=500), AllowedText("tables, at least one")]


class Company(CompanyTable):
    """The content of a company's folder. The documents and the files of repositories are not loaded; they stay in the
    folder.
    """

    channels: dict[str, Channel] = {}
    projects: tuple[SeedProject, ...] = ()
    repositories: dict[str, SeedRepository] = {}
    calendars: dict[str, Calendar] = {}
    colleagues: tuple[Colleague, ...] = ()
    folder: str
    """Digest of the manifest of the company's folder."""

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(person.id for person in self.person)
