"""A process of its own for readers of foreign formats: little memory, little processor time, and one file in reach.

Libraries that decode films, meshes, maps and medical pictures are large and partly written in C. A broken file may make
them loop, crash, or follow a path in the file to another file. So each file is read in a new process that can open
nothing but that file, a scratch folder and the installed programs (by Landlock, if the kernel has it), and that ends at
its limits.

The child writes one frame to its pipe: the length of a JSON text as eight bytes, the JSON text, then the bytes of the
arrays. No pickle is involved.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause, GraderError
from worksample.extras import install_command

from .landlock import allow_only
from .source import UnreadableSource

if TYPE_CHECKING:
    import numpy as np

HEAD = Struct("!Q")
ANSWER_LIMIT = 256 << 20
"""Maximum number of bytes that a reader may return."""
_QUIET = {
    # No sidecar files, no network, no lock files, one thread: a reader's result depends on its file alone.
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "GDAL_SKIP": "VRT,WMS,WCS,HTTP,DERIVED",
    "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": ".none",
    "HDF5_USE_FILE_LOCKING": "FALSE",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """Limits of one reader process. seconds: processor time. memory: bytes of address space beyond what the process
    has when it starts to read. file: size of the file in bytes.
    """

    seconds: int = 30
    memory: int = 1 << 30
    file: int = 128 << 20


@dataclass(frozen=True, slots=True)
class Reading:
    """Findings of a reader in a file: numbers and texts in `facts`, arrays by name in `arrays`."""

    facts: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)


def read_apart(
    reader: str, path: Path, *, extra: str, limits: ReaderLimits | None = None, options: dict[str, Any] | None = None,
    beside: Sequence[Path] = (),
) -> Reading:  # fmt: skip
    """Read a file in a process of its own. beside: further files that the reader may open.

    reader: the function `MODULE:NAME` that gets the path and `options` as keyword arguments, and returns a Reading.
    extra: the extra of Worksample with the libraries that the reader imports.

    Raises UnreadableSource if the file is malformed, exceeds a limit, or ends the process; GraderError
    (`grader.lacks`) if a library is not installed, or (`grader.sandbox`) if no process can be run. Read the reference
    before the deliverable: then a reader that fails on the deliverable alone is the deliverable's fault.
    """
    limits = limits or ReaderLimits()
    size = path.stat().st_size
    if size > limits.file:
        raise UnreadableSource(f"is larger than {limits.file:,} bytes")
    if size == 0:
        raise UnreadableSource("is empty")
    try:
        with tempfile.TemporaryDirectory(prefix="reader-") as scratch:
            data, code = _run(reader, path, limits, options or {}, beside, scratch)
    except OSError as error:  # no disk, process or pipe: never the file's fault
        raise GraderError(
            f"a reader process cannot be run: {error.strerror or error}",
            cause=Cause.GRADER_SANDBOX,
            next="free disk space and memory on this machine, then grade again",
        ) from error
    return _unpack(data, code, extra, limits)


def _run(
    reader: str, path: Path, limits: ReaderLimits, options: dict[str, Any], beside: Sequence[Path], scratch: str
) -> tuple[bytes, int]:
    """Run the reader's process. Return its answer and its exit code. scratch: the one folder in which it may write."""
    source, sink = os.pipe()
    try:
        told = json.dumps({
            "reader": reader, "path": str(path.absolute()), "options": options, "pipe": sink, "scratch": scratch,
            "seconds": limits.seconds, "memory": limits.memory, "beside": [str(one.absolute()) for one in beside],
        })  # fmt: skip
        with subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, told],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(sink,), env={**_environment(), **_QUIET, "TMPDIR": scratch, "TEMP": scratch},
        ) as child:  # fmt: skip
            os.close(sink)
            sink = -1
            with os.fdopen(source, "rb") as pipe:
                source = -1
                data = pipe.read(ANSWER_LIMIT + 1)
            if len(data) > ANSWER_LIMIT:
                child.kill()
                raise UnreadableSource(f"holds more than {ANSWER_LIMIT:,} bytes of values")
            code = child.wait()
    finally:
        for end in (source, sink):
            if end >= 0:
                os.close(end)
    return data, code


@contextmanager
def library(extra: str) -> Iterator[None]:
    """Context manager around an import of a library of an extra. Raises GraderError (`grader.lacks`) if the library is
    not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise _lacking(error.name or str(error), extra) from error


def _lacking(name: str, extra: str) -> GraderError:
    return GraderError(
        f"this comparison needs the library {name}, which is not installed",
        cause=Cause.GRADER_LACKS,
        next=install_command(extra),
    )


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH") if name in os.environ}


def _unpack(data: bytes, code: int, extra: str, limits: ReaderLimits) -> Reading:
    import numpy as np

    if len(data) < HEAD.size:
        raise UnreadableSource(_end_of(code, limits))
    (length,) = HEAD.unpack_from(data)
    try:
        told = json.loads(data[HEAD.size : HEAD.size + length])
    except ValueError as error:
        raise UnreadableSource(_end_of(code, limits)) from error
    if "lacks" in told:
        raise _lacking(told["lacks"], extra)
    if "unreadable" in told:
        raise UnreadableSource(told["unreadable"])
    arrays, at = {}, HEAD.size + length
    for name, kind, shape in told["arrays"]:
        many = int(np.prod(shape, dtype=np.int64))
        dtype = np.dtype(kind)
        if at + many * dtype.itemsize > len(data):
            raise UnreadableSource(_end_of(code, limits))
        arrays[name] = np.frombuffer(data, dtype, many, at).reshape(shape)
        at += many * dtype.itemsize
    return Reading(told["facts"], arrays)


def _end_of(code: int, limits: ReaderLimits) -> str:
    if code in (-9, -24):
        return f"takes more than {limits.seconds} seconds of processor time to read"
    return f"cannot be read: the reader ended with code {code}"


def _answer(told: dict[str, Any]) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Run the reader in this process. Every exception becomes an answer: libraries raise anything for a broken file."""
    import numpy as np

    module, _, name = told["reader"].partition(":")
    try:
        read = getattr(import_module(module), name)
        _limit(told)
        found = read(Path(told["path"]), **told["options"])
        arrays = {key: np.ascontiguousarray(value) for key, value in found.arrays.items()}
        facts = {"facts": found.facts, "arrays": [[k, a.dtype.str, a.shape] for k, a in arrays.items()]}
        json.dumps(facts, allow_nan=False)
        return facts, list(arrays.values())
    except ModuleNotFoundError as error:
        return {"lacks": error.name or str(error)}, []
    except UnreadableSource as error:
        return {"unreadable": str(error)}, []
    except MemoryError:
        return {"unreadable": f"needs more than {told['memory']:,} bytes of memory to read"}, []
    except Exception as error:  # noqa: BLE001 - see the docstring
        return {"unreadable": f"cannot be read: {type(error).__name__}: {str(error)[:300]}"}, []


def _limit(told: dict[str, Any]) -> None:
    """Set this process's limits. Libraries that the reader imports later are part of what it may open."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    seconds = told["seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (held + told["memory"],) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (ANSWER_LIMIT, ANSWER_LIMIT))
    allow_only([*_programs(), Path(told["path"]), *map(Path, told["beside"])], [Path(told["scratch"])])


def _programs() -> list[Path]:
    """Return the folders of Python and of Worksample, without the suites and their references."""
    own = Path(__file__).parents[1]
    parts = [entry for entry in own.iterdir() if entry.name != "suites"]
    environment = [Path(sys.prefix) / name for name in ("lib", "lib64", "pyvenv.cfg")]
    system = [Path(name) for name in ("/usr", "/lib", "/lib64", "/etc", "/proc/self", "/dev/null", "/dev/urandom")]
    return [*parts, *environment, Path(sys.base_prefix) / "lib", *system]


def main(argv: list[str]) -> int:
    """Read the file that the argument names, and write the answer to the pipe."""
    told = json.loads(argv[1])
    facts, arrays = _answer(told)
    text = json.dumps(facts, allow_nan=False).encode()
    with os.fdopen(told["pipe"], "wb") as pipe:
        pipe.write(HEAD.pack(len(text)) + text)
        for array in arrays:
            pipe.write(array.tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
