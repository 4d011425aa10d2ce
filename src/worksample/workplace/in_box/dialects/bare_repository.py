"""A bare git repository, used through git's own commands: history, trees, differences, and commits without a
checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..company_time import company_now
from .http_messages import DialectRefused

SECONDS = 60
MOST = 64 << 20
"""Maximum bytes of the output of a git command."""
_FORM = "%H%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
_BRANCH = re.compile(r"(?!.*(\.\.|//|@\{|\.lock(/|$)|/\.))[A-Za-z0-9_][A-Za-z0-9_./+@#-]{0,200}(?<![./])")
_SETTINGS = ("-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null")
Commit = dict[str, Any]


class NotFound(DialectRefused):
    """Error (HTTP status 404): the repository does not have what a client requested."""

    def __init__(self, what: str) -> None:
        super().__init__(404, f"404 {what} Not Found")


@dataclass(frozen=True)
class FileChange:
    """A change of a file in a commit. `data` is the new content, or None if the file is deleted."""

    path: str
    data: bytes | None
    mode: str = "100644"


class BareRepository:
    """The bare git repository in the folder `place`."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def run(
        self,
        *words: str,
        given: bytes | None = None,
        env: Mapping[str, str] | None = None,
        fine: tuple[int, ...] = (0,),
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command. Raises DialectRefused (400) with git's message if it fails."""
        own = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0",
            **{f"GIT_{role}_DATE": f"{company_now():%Y-%m-%dT%H:%M:%S+00:00}" for role in ("AUTHOR", "COMMITTER")},
            **(env or {}),
        }  # fmt: skip
        done = subprocess.run(
            ["git", "--git-dir", str(self.place), *_SETTINGS, *words], input=given or b"", env=own,
            capture_output=True, check=False, timeout=SECONDS,
        )  # fmt: skip
        if done.returncode not in fine:
            raise DialectRefused(400, f"git: {done.stderr.decode('utf-8', 'replace').strip()[:300]}")
        if len(done.stdout) > MOST:
            raise DialectRefused(413, "the output is too large")
        return done

    def text(self, *words: str) -> str:
        """Run a git command and return its output as text."""
        return self.run(*words).stdout.decode("utf-8", "replace")

    def resolve(self, ref: str, what: str = "Commit") -> str:
        """Return the digest of the commit that a branch, a tag or a digest names. Raises NotFound."""
        if not ref or ref.startswith("-"):
            raise NotFound(what)
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        said = self.run(*asked, fine=(0, 1, 128)).stdout.decode().split()
        if not said or re.fullmatch("[0-9a-f]{40,64}", said[-1]) is None:
            raise NotFound(what)
        return said[-1]

    def default_branch(self) -> str | None:
        """Return the name of the branch that HEAD points to, or None for an empty repository."""
        name = self.run("symbolic-ref", "--quiet", "--short", "HEAD", fine=(0, 1)).stdout.decode().strip()
        return name if name in self.branches() else next(iter(self.branches()), None)

    def branches(self) -> dict[str, str]:
        """Return the commit digest of each branch."""
        return self._refs("refs/heads/")

    def tags(self) -> list[dict[str, Any]]:
        """Return name, commit (a digest), message ("" for a lightweight tag) and time of each tag."""
        fields = ("refname:strip=2", "objecttype", "objectname", "*objectname", "contents", "creatordate:iso-strict")
        form = "%00".join(f"%({one})" for one in fields) + "%01"
        found = []
        for line in self.text("for-each-ref", f"--format={form}", "--sort=-creatordate", "refs/tags/").split("\1"):
            words = line.strip("\n").split("\0")
            if len(words) == 6:
                name, kind, own, behind, message, at = words
                annotated = kind == "tag"
                found.append({
                    "name": name, "commit": behind if annotated else own, "at": at, "target": own,
                    "message": message.strip() if annotated else "",
                })  # fmt: skip
        return found

    def _refs(self, beginning: str) -> dict[str, str]:
        lines = self.text("for-each-ref", "--format=%(refname:strip=2)%00%(objectname)", beginning).splitlines()
        return dict(line.split("\0") for line in lines)

    def commit(self, ref: str) -> Commit:
        """Return the commit that a branch, a tag or a digest names."""
        return _commits(self.text("log", "-1", f"--format={_FORM}%x01", self.resolve(ref)))[0]

    def log(
        self, ref: str, *, without: str = "", path: str = "", since: str = "", until: str = "", author: str = "",
        everywhere: bool = False,
    ) -> list[Commit]:  # fmt: skip
        """Return the commits that are reachable from `ref`, newest first. Commits that are reachable from `without` are
        left out.
        """
        limits = [
            f"--{key}={value}" for key, value in (("since", since), ("until", until), ("author", author)) if value
        ]
        start = ["--all"] if everywhere else [self.resolve(ref), *([f"^{without}"] if without else [])]
        return _commits(self.text("log", f"--format={_FORM}%x01", *limits, *start, "--", *([path] if path else [])))

    def tree(self, ref: str, path: str, recursive: bool) -> list[dict[str, str]]:
        """Return the files and folders in the folder `path` of a commit."""
        path = check_path(path)
        where = f"{self.resolve(ref, 'Tree')}:{path}"
        kind = self.run("cat-file", "-t", where, fine=(0, 128)).stdout.decode().strip()
        if kind != "tree":
            raise NotFound("Tree")
        found = []
        deep = ("-r", "-t") if recursive else ()
        for line in self.run("ls-tree", "-z", *deep, where).stdout.decode("utf-8", "surrogateescape").split("\0"):
            about, _, name = line.partition("\t")
            if name:
                mode, kind, digest = about.split()
                place = f"{path}/{name}" if path else name
                row = {"id": digest, "name": name.rpartition("/")[2], "type": kind, "path": place, "mode": mode}
                found.append({key: value.encode("utf-8", "replace").decode() for key, value in row.items()})
        return found

    def file(self, ref: str, path: str) -> tuple[str, str, bytes]:
        """Return the commit, digest and content of a file. Raises NotFound if the file does not exist."""
        commit = self.resolve(ref)
        digest, kind = self._entry(commit, check_path(path))
        if kind != "blob":
            raise NotFound("File")
        return commit, digest, self.run("cat-file", "blob", digest).stdout

    def _entry(self, commit: str, path: str) -> tuple[str, str]:
        if not path:
            return commit, "tree"
        line = self.run("ls-tree", "-z", commit, "--", path).stdout.decode("utf-8", "replace").split("\0")[0]
        words = line.partition("\t")[0].split()
        return (words[2], words[1]) if len(words) == 3 else ("", "")

    def last_change(self, commit: str, path: str) -> str:
        """Return the last commit that changed a path."""
        return self.text("log", "-1", "--format=%H", commit, "--", path).strip()

    def difference(self, old: str, new: str) -> list[dict[str, Any]]:
        """Return the differences between two commits, one row per file. If `old` is "", every file counts as new."""
        base = old or self.run("hash-object", "-t", "tree", "--stdin").stdout.decode().strip()
        said = self.run("diff", "-M", "--no-color", "--no-ext-diff", "--no-textconv", base, new, "--").stdout
        raw = self.run("diff", "-M", "--raw", "-z", "--abbrev=40", base, new, "--").stdout
        patches = re.split(r"(?m)^diff --git ", said.decode("utf-8", "replace"))[1:]
        return [_row(about, patch) for about, patch in zip(_raw(raw), patches, strict=True)]

    def merge_base(self, one: str, other: str) -> str:
        """Return the closest common ancestor of two commits, or "" if they have none."""
        return self.run("merge-base", one, other, fine=(0, 1)).stdout.decode().strip()

    def commit_changes(
        self, branch: str, start: str, changes: Sequence[FileChange], message: str, by: tuple[str, str], *, at: str = ""
    ) -> str:
        """Commit changes to a branch and return the digest of the commit. A new branch starts at `start`."""
        check_branch(branch)
        before = self.branches().get(branch, "")
        parent = before or (self.resolve(start) if start else "")
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_INDEX_FILE": f"{folder}/index"}
            if parent:
                self.run("read-tree", parent, env=env)
            lines = []
            for one in changes:
                path = check_path(one.path)
                if not path:
                    raise DialectRefused(400, "a file needs a path")
                digest = "0" * 40
                if one.data is not None:
                    digest = self.run("hash-object", "-w", "--stdin", given=one.data).stdout.decode().strip()
                lines.append(f"{'0' if one.data is None else one.mode} {digest}\t{path}\0")
            self.run("update-index", "-z", "--index-info", given="".join(lines).encode(), env=env)
            tree = self.run("write-tree", env=env).stdout.decode().strip()
        made = self._commit(tree, [parent] if parent else [], message, by)
        self.move(branch, made, before)
        return made

    def merge(self, branch: str, source: str, message: str, by: tuple[str, str], *, squash: bool = False) -> str | None:
        """Merge a commit into a branch and return the digest of the new commit, or None if there is a conflict."""
        before = self.branches()[branch]
        done = self.run("merge-tree", "--write-tree", before, source, fine=(0, 1))
        if done.returncode:
            return None
        tree = done.stdout.decode().split()[0]
        made = self._commit(tree, [before] if squash else [before, source], message, by)
        self.move(branch, made, before)
        return made

    def conflicts(self, into: str, source: str) -> bool:
        """Return whether merging the commit `source` into the branch `into` would cause a conflict."""
        return self.run("merge-tree", "--write-tree", into, source, fine=(0, 1)).returncode != 0

    def _commit(self, tree: str, parents: Sequence[str], message: str, by: tuple[str, str]) -> str:
        name, mail = (re.sub(r"[<>\n\0]", "", word).strip() or "nobody" for word in by)
        env = {
            f"GIT_{role}_{key}": word
            for role in ("AUTHOR", "COMMITTER")
            for key, word in (("NAME", name), ("EMAIL", mail))
        }
        over = [word for parent in parents for word in ("-p", parent)]
        return self.run("commit-tree", tree, *over, given=message.encode(), env=env).stdout.decode().strip()

    def move(self, branch: str, to: str, before: str = "") -> None:
        """Make a branch point to another commit. Raises DialectRefused (409) if the branch no longer points to the
        commit `before`.
        """
        done = self.run("update-ref", f"refs/heads/{check_branch(branch)}", to, before or "0" * 40, fine=(0, 128))
        if done.returncode:
            raise DialectRefused(409, "the branch was changed in the meantime")

    def tag(self, name: str, at: str, message: str, by: tuple[str, str]) -> None:
        """Create a tag. The tag is annotated if `message` is not empty. Raises DialectRefused if the name exists."""
        check_branch(name)
        env = {"GIT_COMMITTER_NAME": by[0] or "nobody", "GIT_COMMITTER_EMAIL": by[1]}
        words = ("-a", "-F", "-") if message else ()
        self.run("tag", *words, "--", name, self.resolve(at), given=message.encode(), env=env)

    def remove(self, ref: str) -> None:
        """Delete a branch or tag."""
        self.run("update-ref", "-d", ref)


def check_branch(name: str) -> str:
    """Return the name of a branch or tag unchanged. Raises DialectRefused if git or a command line would misread the
    name.
    """
    if _BRANCH.fullmatch(name) is None:
        raise DialectRefused(400, f"Branch name is invalid: {name[:100]!r}")
    return name


def check_path(path: str) -> str:
    """Return a normalised path inside a repository. Raises DialectRefused if the path leads out of the repository."""
    parts = [part for part in path.strip("/").split("/") if part]
    if any(part in (".", "..") or part.lower() == ".git" or "\0" in part for part in parts):
        raise DialectRefused(400, "this is not a path in a repository")
    return "/".join(parts)


def _commits(said: str) -> list[Commit]:
    found = []
    for line in said.split("\1"):
        words = line.lstrip("\n").split("\0")
        if len(words) == 9:
            digest, parents, name, mail, at, by, by_mail, by_at, message = words
            found.append({
                "id": digest, "short_id": digest[:8], "parent_ids": parents.split(), "title": message.split("\n")[0],
                "message": message, "author_name": name, "author_email": mail, "authored_date": at,
                "committer_name": by, "committer_email": by_mail, "committed_date": by_at, "created_at": by_at,
            })  # fmt: skip
    return found


def _raw(said: bytes) -> list[tuple[str, str, str, str, str]]:
    """Return the old and new mode, the status and both paths of each row in the output of `git diff --raw -z`."""
    words = said.decode("utf-8", "replace").split("\0")
    found, place = [], 0
    while place < len(words) and words[place].startswith(":"):
        old_mode, new_mode, _, _, status = words[place][1:].split()
        twice = status[0] in "RC"
        found.append((old_mode, new_mode, status[0], words[place + 1], words[place + (2 if twice else 1)]))
        place += 3 if twice else 2
    return found


def _row(about: tuple[str, str, str, str, str], patch: str) -> dict[str, Any]:
    old_mode, new_mode, status, old, new = about
    begin = re.search(r"(?m)^@@ ", patch)
    return {
        "old_path": old, "new_path": new, "a_mode": old_mode, "b_mode": new_mode, "new_file": status == "A",
        "renamed_file": status == "R", "deleted_file": status == "D", "diff": patch[begin.start() :] if begin else "",
    }  # fmt: skip
