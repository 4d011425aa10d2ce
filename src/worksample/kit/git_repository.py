"""A reader of Git repositories that an agent wrote. Only the repository's objects and branches are used; its settings
and hooks are ignored.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from worksample.errors import Cause, DeliverableError, GraderError

SECONDS = 60
"""Maximum processor time of one git command, in seconds."""
LIMIT = 64 << 20
"""Maximum size of the output of one git command, in bytes."""
MOST = 20_000
"""Maximum number of commits that are read of a branch."""
MOST_FILES, MOST_BYTES = 200, 4 << 20
"""Maximum number of files, and of bytes of all files together, that `Repository.contents` returns."""


def _within(
    seconds: int, words: list[str], env: dict[str, str], given: bytes = b""
) -> tuple[subprocess.CompletedProcess[bytes], float]:
    """Run a program until it exits, and return its result and its processor time in seconds.

    Only processor time is limited. A limit of elapsed time would fail a deliverable on a busy machine.
    """
    if shutil.which(words[0], path=env["PATH"]) is None:
        raise FileNotFoundError(words[0])
    # A box forbids limits of other processes, so a shell sets its own and becomes the program.
    limited = ["/bin/sh", "-c", f'ulimit -S -t {seconds}; ulimit -H -t {seconds + 5}; exec "$@"', "sh", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pipe = subprocess.PIPE
    with subprocess.Popen(limited, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        out, said = process.communicate(given)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return subprocess.CompletedProcess(words, process.returncode, out, said), used


_FIELD, _END = "\x1f", "\x1e"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a Git repository. The author's name and mail are not verified: anyone can commit under any name."""

    id: str
    author: str
    mail: str
    at: datetime
    message: str


class Repository:
    """A Git repository in a folder. Each method raises DeliverableError if the repository is missing or broken."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = Path(folder), name

    def branches(self) -> list[str]:
        """Return the names of all branches, in alphabetical order."""
        with self._plain() as folder:
            said = self._git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads")
        return sorted(said.decode("utf-8", "replace").split("\n")[:-1])

    def commits(self, branch: str = "main") -> list[Commit]:
        """Return the commits of a branch, newest first."""
        return self._log(f"refs/heads/{branch}")

    def history(self) -> list[Commit]:
        """Return the commits of all branches and tags, newest first."""
        return self._log("--all")

    def refs(self) -> list[str]:
        """Return the names of all references, such as `refs/tags/v1`, with the messages of annotated tags."""
        with self._plain() as folder:
            said = self._git(folder, "for-each-ref", "--format=%(refname) %(contents)")
        return [line for line in said.decode("utf-8", "replace").splitlines() if line]

    def objects(self) -> list[tuple[str, str, bytes]]:
        """Return every version of every file that a branch or tag can reach, as (name, object id, content). Raises
        DeliverableError if all versions together are larger than 64 MiB.
        """
        with self._plain() as folder:
            listed = self._git(folder, "rev-list", "--objects", "--all").decode("utf-8", "replace").splitlines()
            named = {id: name for id, _, name in (line.partition(" ") for line in listed[: MOST * 5])}
            batch = self._git(folder, "cat-file", "--batch", given="\n".join(named).encode())
        found, at = [], 0
        while at < len(batch):
            end = batch.index(b"\n", at)
            id, kind, size = (*batch[at:end].decode().split(" "), "", "")[:3]
            length = int(size or 0)
            if kind == "blob":
                found.append((named.get(id, ""), id, batch[end + 1 : end + 1 + length]))
            at = end + 2 + length if size else end + 1
        return found

    def _log(self, of: str) -> list[Commit]:
        form = _FIELD.join(("%H", "%an", "%ae", "%ct", "%B")) + _END
        with self._plain() as folder:
            said = self._git(folder, "log", f"--max-count={MOST}", f"--format={form}", of, "--")
        found = []
        for entry in said.decode("utf-8", "replace").split(_END)[:-1]:
            id, author, mail, at, message = (*entry.strip("\n").split(_FIELD, 4), "", "", "", "")[:5]
            found.append(Commit(id, author, mail, datetime.fromtimestamp(int(at or 0), UTC), message.strip()))
        return found

    def files(self, branch: str = "main") -> list[str]:
        """Return the names of all files in the latest commit of a branch, in alphabetical order."""
        with self._plain() as folder:
            said = self._git(folder, "ls-tree", "-r", "-z", "--name-only", f"refs/heads/{branch}")
        return sorted(name.decode("utf-8", "replace") for name in said.split(b"\0") if name)

    def file(self, name: str, branch: str = "main") -> bytes:
        """Return the content of a file in the latest commit of a branch."""
        with self._plain() as folder:
            return self._git(folder, "cat-file", "blob", f"refs/heads/{branch}:{name}")

    def contents(self, branch: str = "main") -> dict[str, bytes]:
        """Return the contents of all files in the latest commit of a branch, by name. Raises DeliverableError if there
        are more than 200 files or 4 MiB.

        Use this method to run the agent's code with `Case.run`.
        """
        names = self.files(branch)
        if len(names) > MOST_FILES:
            raise DeliverableError(f"holds more than {MOST_FILES} files", where=f"git/{self._name}")
        found = {name: self.file(name, branch) for name in names}
        if sum(map(len, found.values())) > MOST_BYTES:
            raise DeliverableError(f"holds more than {MOST_BYTES:,} bytes", where=f"git/{self._name}")
        return found

    @contextmanager
    def _plain(self) -> Iterator[Path]:
        """Yield the path of a temporary repository with the same objects and branches, but without the agent's settings
        and hooks.
        """
        if not (self._folder / "objects").is_dir():
            raise DeliverableError("there is no such repository", where=f"git/{self._name}")
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "objects" / "info").mkdir(parents=True)
            (folder / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
            (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n", encoding="utf-8")
            (folder / "refs").mkdir()
            if (self._folder / "refs").is_dir():
                shutil.copytree(self._folder / "refs", folder / "refs", dirs_exist_ok=True, symlinks=True)
            for name in ("packed-refs",):
                if (self._folder / name).is_file() and not (self._folder / name).is_symlink():
                    shutil.copyfile(self._folder / name, folder / name)
            (folder / "objects" / "info" / "alternates").write_text(
                f"{(self._folder / 'objects').resolve()}\n", encoding="utf-8"
            )
            yield folder

    def _git(self, folder: Path, *words: str, given: bytes = b"") -> bytes:
        env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0", "GIT_DIR": str(folder), "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        where = f"git/{self._name}"
        try:
            done, used = _within(SECONDS, ["git", *words], env, given)
        except FileNotFoundError as error:
            raise GraderError(
                "git is not installed here", cause=Cause.GRADER_LACKS, next="apt-get install git"
            ) from error
        if done.returncode < 0 and used >= SECONDS:
            raise DeliverableError(f"git {words[0]} takes more than {SECONDS} seconds of processor time", where=where)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[:500]
            raise DeliverableError(f"git {words[0]}: {said}", where=where)
        if len(done.stdout) > LIMIT:
            raise DeliverableError(f"git {words[0]} prints more than {LIMIT} bytes", where=where)
        return done.stdout
