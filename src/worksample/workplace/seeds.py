"""Seeds: the initial state of a company's services. A seed is made once in a box. It is cached under a digest of
everything that determines its content.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import SandboxError
from worksample.files import materialise, scan
from worksample.records import CaptureStatus
from worksample.sandboxes import open_box
from worksample.sandboxes.box_holder import SEED_ABOUT
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import make_once
from worksample.tasks.workplace_settings import WORKPLACE

from .company import Company
from .seed_plan import build_plan, choose_passwords
from .service_programs import require_programs, versions
from .services_box import COMPANY, box_config
from .state_compatibility import write_stamp

SECONDS = 600.0
"""Maximum seconds to make a seed."""
ABOUT = SEED_ABOUT
"""Name of the file beside a seed's state that describes the seed. The file's modification time is the time of the
seed's last use.
"""


@dataclass(frozen=True, slots=True)
class Seed:
    """The initial state of a company's services. `state` is the folder with the services' folders. `accounts` contains
    the passwords by person, which may differ on other machines.
    """

    state: Path
    accounts: dict[str, str]


def seed_digest(company: Company, names: Sequence[str]) -> str:
    """Return the digest of everything that determines a seed: the company's folder, the services, their versions, and
    the platform's own programs.
    """
    return hashlib.sha256("\n".join([company.folder, *sorted(names), versions(names)]).encode()).hexdigest()


def seed_folder(company: Company, names: Sequence[str]) -> Path:
    """Return the path of the folder of a seed, whether the seed exists or not."""
    return seeds_folder() / seed_digest(company, names)[:32]


def seeds_folder() -> Path:
    """Return the folder of all seeds."""
    folder = cache_folder() / "workplaces"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def programs_digest(names: Sequence[str]) -> str:
    """Return the digest of the services' versions and the platform's own programs, which determine a seed together with
    its company.
    """
    return hashlib.sha256(versions(names).encode()).hexdigest()


def ensure_seed(company: Company, root: Path, names: Sequence[str], *, kind: str = "bubblewrap") -> Seed:
    """Return the seed of the company in the folder `root`. If the seed is missing, one process makes it while others
    wait. No process ever sees an incomplete seed.

    Making a seed blocks for about half a minute. Raises SandboxUnavailable if this machine lacks programs;
    SandboxError, with the part that failed, for other failures.
    """
    require_programs(names)
    folder = seed_folder(company, names)
    make_once(folder, lambda fresh: asyncio.run(_fill(fresh, company, root, names, kind)))
    with contextlib.suppress(OSError):  # another account's cache, which we may only read
        os.utime(folder / ABOUT)
    return Seed(folder / "state", json.loads((folder / "accounts.json").read_text(encoding="utf-8")))


async def _fill(folder: Path, company: Company, root: Path, names: Sequence[str], kind: str) -> None:
    words = choose_passwords(company)
    async with open_box(box_config(names, {COMPANY: root.resolve()}, "seed"), kind=kind) as box:
        await box.write("/task/scratch/plan.json", json.dumps(build_plan(company, words)).encode(), 0o600)
        argv = ["python3", "-m", "in_box.seed", f"/task/state/{WORKPLACE}", "--plan", "/task/scratch/plan.json"]
        done = await box.run([*argv, "--company", COMPANY, "--services", ",".join(names)], timeout=SECONDS)
        if done.returncode or done.timed_out:
            said = (done.stderr + done.stdout).decode("utf-8", "replace").strip()[-2000:]
            raise SandboxError(
                f"the company's data could not be loaded into the services: {said}",
                where=str(root),
                next=f"correct the company's files, then worksample workplace check {root} --start",
            )
        await box.freeze()
        await asyncio.to_thread(copy_state, box.output_path / WORKPLACE, folder)
    write_stamp(folder / "state", company.folder, names, company.today)
    (folder / "accounts.json").write_text(json.dumps(words), encoding="utf-8")
    about = {"company": company.name, "services": sorted(names), "programs": programs_digest(names)}
    (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def copy_state(state: Path, folder: Path) -> None:
    """Copy the services' state to `folder`/state. Links and devices are left out. Raises SandboxError."""
    blobs = folder / "blobs"
    blobs.mkdir()
    found = scan(state, _BlobFolder(blobs))
    if found.status is not CaptureStatus.COMPLETE:
        raise SandboxError(
            f"the state could not be copied out of its box: {found.reason}", where="workplace", next="worksample doctor"
        )
    materialise(found.manifest, lambda digest: blobs / digest, folder / "state")
    shutil.rmtree(blobs)


@dataclass(frozen=True, slots=True)
class _BlobFolder:
    """A sink that stores contents as files named by their digests."""

    folder: Path

    def put(self, data: bytes) -> str:
        """Store data in a file that is named by the digest, and return the digest."""
        digest = hashlib.sha256(data).hexdigest()
        (self.folder / digest).write_bytes(data)
        return digest

    def put_file(self, fd: int, size: int) -> str:
        """Store the content of an open file in a file that is named by the digest, and return the digest."""
        fresh, digest = self.folder / "new", hashlib.sha256()
        with fresh.open("wb") as file, os.fdopen(os.dup(fd), "rb") as source:
            while piece := source.read(1 << 20):
                digest.update(piece)
                file.write(piece)
        return fresh.rename(self.folder / digest.hexdigest()).name
