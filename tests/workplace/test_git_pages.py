"""Pages of repositories: signing in, code, merge requests by buttons, and hostile content, without any service."""

from __future__ import annotations

import html
import json
import re
import subprocess
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import pytest

from worksample.workplace.in_box.dialects.accounts import DialectAccounts
from worksample.workplace.in_box.dialects.gitlab.api import GitLab
from worksample.workplace.in_box.dialects.http_messages import DialectRefused, DialectRequest, DialectResponse
from worksample.workplace.in_box.git_pages.site import GitPages

pytest.importorskip("jinja2")
pytest.importorskip("pygments")
PASSWORDS = {"ada": "of-ada-alone", "bo": "of-bo-alone", "operator": "of-the-operator"}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}"
KNOWN = frozenset({
    "html", "head", "meta", "title", "link", "script", "body", "header", "a", "nav", "form", "span", "input",
    "button", "main", "h1", "h2", "h3", "p", "ul", "li", "div", "small", "table", "tbody", "thead", "tr", "td",
    "th", "pre", "code", "strong", "em", "label", "select", "option", "textarea", "section", "article", "aside",
    "details", "summary", "blockquote", "ol", "br", "hr", "s",
})  # fmt: skip
"""The elements that the pages use."""


class Elements(HTMLParser):
    """The elements of a page: none that the pages themselves do not use, and no attribute that runs a program."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            to = (value or "").strip().lower()
            if (
                key.startswith("on")
                or key == "style"
                or (key in ("href", "src", "action") and to.startswith("javascript"))
            ):
                self.bad.append(f"{tag} {key}={value}")
        script = tag == "script" and dict(attrs) != {"src": "/company-clock.js"}
        if tag not in KNOWN or script:
            self.bad.append(tag)


class Office:
    """A site over one repository with two branches, and a person's browser."""

    def __init__(self, folder: Path, hostile: str = "") -> None:
        self.state = folder / "state"
        self.bare = self.state / "git" / "app.git"
        self.state.mkdir()
        (self.state / "dialects").mkdir()
        people = [
            {"id": n, "login": who, "name": f"{who.title()} {hostile}", "mail": f"{who}@x"}
            for n, who in enumerate(("ada", "bo"))
        ]
        (self.state / "dialects" / "people.json").write_text(json.dumps(people))
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.bare)], check=True)
        self.site = GitPages(DialectAccounts(PASSWORDS), self.state)
        self.cookie = ""
        self.last = DialectResponse(0)

    def ask(self, method: str, path: str, form: dict[str, str] | None = None, **heads: str) -> str:
        """Ask as a browser does; follow a redirect."""
        place, _, query = path.partition("#")[0].partition("?")
        given = {"accept": "text/html", "cookie": self.cookie, **heads}
        body = urllib.parse.urlencode(form or {}).encode()
        words = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.last = self.site.answer(DialectRequest(method, place, words, given, body, "http://git:8929"))
        self.cookie = self.last.headers.get("Set-Cookie", self.cookie).partition(";")[0]
        if self.last.status == 303:
            return self.ask("GET", self.last.headers["Location"])
        assert isinstance(self.last.body, bytes)
        return self.last.body.decode()

    def sign_in(self, who: str) -> str:
        return self.ask("POST", "/users/sign_in", {"username": who, "password": PASSWORDS[who]})

    def press(self, place: str, button: str, /, **values: str) -> str:
        """Send the form of a page that has this button, as a browser does."""
        page = self.ask("GET", place)
        for form in re.findall(r"<form.*?</form>", page, re.S):
            if f">{button}</button>" not in form:
                continue
            fields = {
                key: html.unescape(value)
                for key, value in re.findall(r'<input(?: type="hidden")? name="(\w+)" value="(.*?)"', form)
            }
            action = re.search(r'action="(.*?)"', form)
            assert action is not None
            assert set(values) <= set(re.findall(r'name="(\w+)"', form)), form
            return self.ask("POST", html.unescape(action[1]), {**fields, **values})
        raise AssertionError(f"{place} has no button {button}: {page}")

    def write(self, branch: str, path: str, text: str, message: str = "Change", author: str = "Ada") -> None:
        """Commit a file."""
        code = self.site_view().code
        from worksample.workplace.in_box.dialects.bare_repository import FileChange

        start = "main" if "main" in code.branches() else ""
        code.commit_changes(
            branch, start, [FileChange(path, text.encode("utf-8", "surrogateescape"))], message, (author, "a@x")
        )

    def site_view(self):  # type: ignore[no-untyped-def]
        from worksample.workplace.in_box.dialects.bare_repository import BareRepository

        class One:
            code = BareRepository(self.bare)

        return One


def office(folder: Path) -> Office:
    made = Office(folder)
    made.write("main", "README.md", "# App\n")
    made.write("feature/rates", "src/rates.py", "RATE = 3\nprint(RATE)\n", "Rates")
    return made


def test_pages_ask_strangers_to_sign_in(tmp_path: Path) -> None:
    one = office(tmp_path)
    assert 'name="password"' in one.ask("GET", "/root/app")
    assert "next=%2Froot%2Fapp" not in one.ask("GET", "/root/app")
    assert "wrong" in one.ask("POST", "/users/sign_in", {"username": "ada", "password": "x"}) and one.last.status == 401
    with pytest.raises(DialectRefused) as refused:
        one.ask("GET", "/", accept="*/*")
    assert refused.value.status == 401
    for evil in ("//evil.example/", "/\\evil.example", "https://evil.example"):
        form = {"username": "ada", "password": PASSWORDS["ada"], "next": evil}
        body = urllib.parse.urlencode(form).encode()
        answer = one.site.answer(
            DialectRequest("POST", "/users/sign_in", {}, {"accept": "text/html"}, body, "http://git")
        )
        assert answer.headers["Location"] == "/"


def test_forms_need_the_proof_of_their_session(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.sign_in("ada")
    for form in ({"branch": "x", "ref": "main"}, {"branch": "x", "ref": "main", "proof": "0" * 64}):
        assert "not from a page of yours" in one.ask("POST", "/root/app/-/branches", form)
    assert "x" not in one.site_view().code.branches()
    assert "Sign out" not in one.press("/", "Sign out")
    assert "Sign in" in one.ask("GET", "/")


def test_programs_get_a_plain_list(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.sign_in("ada")
    assert one.ask("GET", "/", accept="*/*") == "http://git:8929/app.git\n"


def test_code_history_and_branches_have_pages(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.sign_in("ada")
    assert ">app</a>" in one.ask("GET", "/")
    assert "<h1>App</h1>" in one.ask("GET", "/root/app")
    assert "src/" in one.ask("GET", "/root/app/-/tree/feature/rates")
    assert 'class="mi">3' in one.ask("GET", "/root/app/-/blob/feature/rates/src/rates.py")
    assert one.ask("GET", "/root/app/-/raw/feature/rates/src/rates.py") == "RATE = 3\nprint(RATE)\n"
    assert (
        one.last.headers["Content-Type"].startswith("text/plain")
        and "sandbox" in one.last.headers["Content-Security-Policy"]
    )
    history = one.ask("GET", "/root/app/-/commits/feature/rates")
    assert "2 commits" in history
    digest = one.site_view().code.branches()["feature/rates"]
    assert "+RATE = 3" in one.ask("GET", f"/root/app/-/commit/{digest}")
    assert "feature/rates" in one.ask("GET", "/root/app/-/branches")
    for gone in (
        "/root/app/-/tree/none",
        "/root/app/-/blob/main/none",
        "/root/none",
        "/root/app/-/none",
        "/root/app/-/commit/ffff",
    ):
        assert 'role="alert"' in one.ask("GET", gone) and one.last.status == 404, gone


def test_file_is_edited_on_a_page_and_a_lost_race_is_refused(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.sign_in("ada")
    path = "/root/app/-/edit/main/README.md"
    assert "Second" in one.press(path, "Commit changes", text="# App\r\n\r\nSecond\r\n", message="More", branch="main")
    code = one.site_view().code
    assert code.file("main", "README.md")[2] == b"# App\n\nSecond\n"
    assert (code.commit("main")["author_name"], code.commit("main")["title"]) == ("Ada", "More")
    page = one.ask("GET", path)
    one.write("main", "README.md", "other")
    proof, at = (re.search(rf'name="{key}" value="(\w+)"', page)[1] for key in ("proof", "at"))  # type: ignore[index]
    said = one.ask("POST", path, {"proof": proof, "at": at, "path": "README.md", "text": "mine", "branch": "main"})
    assert "has a new commit" in said and one.last.status == 409


def test_merge_request_is_opened_commented_approved_and_merged_by_buttons(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.sign_in("ada")
    new = "/root/app/-/merge_requests/new?source=feature%2Frates&target=main"
    made = one.press(new, "Create merge request", title="Rates", description="Please *look*", reviewer="bo")
    assert "<em>look</em>" in made and "Nobody has approved it yet" in made
    here = "/root/app/-/merge_requests/1"
    one.press(f"{here}/diffs?path=src%2Frates.py&old=&new=2#comment", "Comment", body="Why print?")
    changes = one.ask("GET", f"{here}/diffs")
    assert "Why print?" in changes and changes.index("print(RATE)") < changes.index("Why print?")
    one.sign_in("bo")
    one.press(here, "Comment", body="Fine **now**")
    assert "Approved by Bo" in one.press(here, "Approve")
    assert "By Bo" in one.ask("GET", f"{here}/checks")
    merged = one.press(here, "Merge", should_remove_source_branch="true")
    assert "Merged by Bo" in merged
    assert "feature/rates" not in one.site_view().code.branches()
    assert one.site_view().code.file("main", "src/rates.py")[2].startswith(b"RATE")
    assert "Rates" in one.ask("GET", "/root/app/-/merge_requests?state=merged")
    # A program that asks GitLab's API sees what the buttons did.
    api = GitLab(DialectAccounts(PASSWORDS), one.state, one.site)
    assert (
        "Rates"
        in api.answer(
            DialectRequest("GET", here, {}, {"accept": "text/html", "cookie": one.cookie}, b"", "")
        ).body.decode()
    )  # type: ignore[union-attr]
    kept = json.loads((one.state / "dialects" / "projects" / "app.json").read_text())["merge_requests"][0]
    assert (kept["state"], kept["merged_by"], [row["by"] for row in kept["notes"]]) == ("merged", "bo", ["ada", "bo"])
    assert kept["notes"][0]["position"]["new_line"] == 2


def test_new_commit_removes_an_approval_and_stops_an_old_merge(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.sign_in("ada")
    here = "/root/app/-/merge_requests/1"
    one.press(
        "/root/app/-/merge_requests/new?source=feature%2Frates&target=main",
        "Create merge request",
        title="Draft: Rates",
    )
    assert "disabled" in one.ask("GET", here)
    assert "it is a draft" in one.press(here, "Merge")
    one.press(here, "Save", title="Rates")
    one.press(here, "Approve")
    page = one.ask("GET", here)
    form = re.search(rf'action="{here}/merge">(.*?)</form>', page, re.S)
    assert form is not None
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(.*?)"', form[1]))
    one.write("feature/rates", "src/rates.py", "RATE = 400\n")
    assert "SHA does not match" in one.ask("POST", f"{here}/merge", fields)
    assert "Nobody has approved it yet" in one.ask("GET", here)
    one.write("main", "src/rates.py", "RATE = 5\n")
    assert "in conflict" in one.ask("GET", here)
    assert "cannot be merged" in one.press(here, "Merge")
    assert "Reopen" in one.press(here, "Close merge request")
    assert "Approve" in one.press(here, "Reopen merge request")


def test_hostile_names_texts_and_code_are_shown_as_text(tmp_path: Path) -> None:
    one = Office(tmp_path, HOSTILE)
    one.write(
        "main",
        "README.md",
        f"# {HOSTILE}\n[x](javascript:alert(1)) ![y](http://evil.example/x.png)\n<iframe src=x>\n",
        author=HOSTILE,
    )
    name = f"a {HOSTILE.replace('/', '_')}.py"
    one.write("feature", name, f"x = '''{HOSTILE}'''\n\x00"[:-1], f"{HOSTILE}\n\n{HOSTILE}", author=HOSTILE)
    one.write("feature", "evil.html", f"<html>{HOSTILE}")
    (one.bare / "description").write_text(HOSTILE)
    one.sign_in("ada")
    here = "/root/app/-/merge_requests/1"
    one.press(
        "/root/app/-/merge_requests/new?source=feature&target=main",
        "Create merge request",
        title=HOSTILE,
        description=HOSTILE,
    )
    one.press(here, "Comment", body=HOSTILE)
    digest = one.site_view().code.branches()["feature"]
    app, file = "/root/app/-", urllib.parse.quote(name)
    for path in (
        "/", "/root/app", f"{app}/tree/feature", f"{app}/blob/feature/{file}", f"{app}/edit/feature/{file}",
        f"{app}/blob/feature/evil.html", f"{app}/commits/feature", f"{app}/commit/{digest}", f"{app}/branches",
        f"{app}/merge_requests", f"{app}/merge_requests/new?source=feature", here, f"{here}/commits", f"{here}/diffs",
        f"{here}/checks", f"{app}/blob/main/{urllib.parse.quote(HOSTILE)}", f"{here}/diffs?path={file}&old=&new=1",
        f"/users/sign_in?next={urllib.parse.quote(HOSTILE)}",
    ):  # fmt: skip
        page = one.ask("GET", path)
        assert Elements(page).bad == [], path
        assert "<script>alert" not in page and "49" not in re.sub(r"[0-9a-f]{8,}|/-/.*?\"", "", page), path
        assert "default-src 'none'" in one.last.headers["Content-Security-Policy"]
    one.ask("GET", "/root/app/-/raw/feature/evil.html")
    assert one.last.headers["Content-Type"].startswith("text/plain")
    assert one.last.headers["X-Content-Type-Options"] == "nosniff"


def test_paths_cannot_leave_the_repository(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.sign_in("ada")
    for place in (
        "raw/main/../../../../etc/passwd",
        "raw/main/%2e%2e/config",
        "blob/--output=x/README.md",
        "tree/main/.git",
        "commits/--all",
    ):
        one.ask("GET", f"/root/app/-/{place}")
        assert one.last.status in (400, 404), place
    for name in ("../../evil", ".git/hooks/post-update", ""):
        one.press("/root/app/-/edit/main/README.md", "Commit changes", path=name, text="x")
        assert one.last.status == 400, name
    for branch in ("--force", "a..b", "x/../../main", "refs\nheads"):
        one.press("/root/app/-/branches", "Create branch", branch=branch, ref="main")
        assert one.last.status == 400, branch


def test_huge_files_and_differences_are_cut(tmp_path: Path) -> None:
    one = office(tmp_path)
    one.write("big", "lines.txt", "x\n" * 30_000)
    one.write("big", "binary.bin", "\x00" * 100)
    one.sign_in("ada")
    digest = one.site_view().code.branches()["big"]
    assert one.ask("GET", "/root/app/-/blob/big/lines.txt").count("<tr") <= 20_000
    assert "is not shown here" in one.ask("GET", "/root/app/-/blob/big/binary.bin")
    parent = one.site_view().code.commit(digest)["parent_ids"][0]
    assert "26001 more lines are not shown" in one.ask("GET", f"/root/app/-/commit/{parent}")
