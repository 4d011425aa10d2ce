"""Processes: the host's, the exec server's, the neighbour's; and what outlives its time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from pathlib import Path

import psutil

from worksample.box import Box

from .files import box_is_real
from .world import PRELUDE, World, attack


@attack()
async def reads_the_environment_of_host_processes(world: World, box: Box) -> bool:
    return world.found(await world.shell(box, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'"))


@attack()
async def sees_processes_of_other_boxes(world: World, box: Box) -> bool:
    return world.found(await world.shell(box, "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'; ps axww"))


@attack()
async def kills_a_process_of_the_host(world: World, box: Box) -> bool:
    victim = subprocess.Popen(["/usr/bin/sleep", "600"], stdin=subprocess.DEVNULL)
    try:
        code = f"kill -9 {victim.pid}; " + ("kill -9 -1" if box_is_real(box) else "")
        await world.shell(box, code)
        await asyncio.sleep(0.1)
        return victim.poll() is not None
    finally:
        victim.kill()
        victim.wait()


@attack()
async def attaches_to_a_process_of_the_host(world: World, box: Box) -> bool:
    code = """
pid = int(os.environ["VICTIM_PID"])
if call("ptrace", 0x4206, pid, 0, 0)[0] == 0:
    print(T); os.kill(pid, 19); os.waitpid(pid, 0x40000000); call("ptrace", 17, pid, 0, 0); os.kill(pid, 18)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="there is no exec server without a box; signals that end ordinary processes are known to")
async def signals_the_exec_server_to_death(world: World, box: Box) -> bool:
    code = """
for number in list(range(1, 32)) + list(range(34, 65)):
    for _ in range(3):
        try:
            os.kill(1, number)
        except OSError:
            pass
try:
    os.sched_setaffinity(1, {0}); os.setpriority(os.PRIO_PROCESS, 1, 19)
except OSError:
    pass
"""
    await world.python(box, code)
    return (await box.run(["echo", "alive"])).stdout != b"alive\n"


_REACH = """
import struct
def reach(pid):
    got = []
    for name in ("mem", "environ", "maps", "auxv", "stack", "syscall"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                if name == "mem" or file.read(10):
                    got.append(name)
        except OSError:
            pass
    for number in range(30):
        try:
            os.readlink(f"/proc/{pid}/fd/{number}"); got.append("fd")
        except OSError:
            pass
    for link in ("exe", "cwd", "root"):
        try:
            os.readlink(f"/proc/{pid}/{link}"); got.append(link)
        except OSError:
            pass
    if call("ptrace", 0x4206, pid, 0, 0)[0] == 0:
        got.append("ptrace")
    space = ctypes.create_string_buffer(8)
    class V(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))
    mine, theirs = V(ctypes.addressof(space), 8), V(ctypes.addressof(space), 8)
    if call("process_vm_readv", pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)[0] == 8:
        got.append("process_vm_readv")
    holder = call(434, pid, 0)[0]
    if holder >= 0 and call("pidfd_getfd", holder, 0, 0)[0] >= 0:
        got.append("pidfd_getfd")
    return got
"""


@attack(control="", why="the same reach into a child of its own is the control, inside the test")
async def reaches_into_the_exec_server(world: World, box: Box) -> bool:
    """Its memory and descriptors would give control over what the platform is told."""
    code = (
        _REACH
        + """
import subprocess
child = subprocess.Popen(["sleep", "20"]); time.sleep(0.2)
print(json.dumps([reach(1), reach(child.pid)])); child.kill()
"""
    )
    import json

    server, child = json.loads((await world.python(box, code)).stdout)
    if not {"mem", "fd", "environ", "exe"} <= set(child):
        raise AssertionError(f"the reach into an ordinary process finds only {child}")
    return bool(server)


@attack(control="", why="there is no exec server without a box")
async def starves_the_exec_server_by_limits(world: World, box: Box) -> bool:
    code = """
import resource
for which in range(16):
    try:
        resource.prlimit(1, which, (0, 0)); print(T)
    except (OSError, ValueError):
        pass
"""
    done = await world.python(box, code)
    alive = (await box.run(["echo", "alive"])).stdout == b"alive\n"
    return world.env["TOKEN"].encode() in done.stdout or not alive


@attack(
    control="", why="the descriptors of an ordinary shell are known; what is asked is what a box's commands inherit"
)
async def inherits_descriptors_of_the_platform(world: World, box: Box) -> bool:
    code = """
for name in os.listdir("/proc/self/fd"):
    try:
        where = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        continue
    if int(name) > 2 and where != f"/proc/{os.getpid()}/fd":
        print(T, name, where)
    if where.startswith("socket:"):
        print(T, name, where)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="a fork bomb without protection would take this machine with it")
async def bombs_with_forks(world: World, box: Box) -> bool:
    """The box's limit holds on the host, another box works meanwhile, and this one answers after a clearing."""
    bomb = asyncio.create_task(world.shell(box, f"f() {{ f | f & }}; f; sleep 5 # {world.token}", timeout=2))
    most = 0
    for _ in range(15):
        await asyncio.sleep(0.1)
        most = max(most, len(_named(world.token)))
        assert world.neighbour is not None
        if (await world.neighbour.run(["echo", "here"])).stdout != b"here\n":
            return True
    await bomb
    await box.clear()
    if most < 20:
        raise AssertionError(f"the bomb made only {most} processes")
    alive = (await box.run(["echo", "alive"])).stdout == b"alive\n"
    return most > box.config.limits.processes + 1 or not alive


_DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import signal
        for number in (1, 2, 13, 15):
            signal.signal(number, signal.SIG_IGN)
        os.execvpe("bash", [os.environ["NAME"], "-c", "while :; do sleep 0.05; date > beat; done"], {})
    os._exit(0)
os.wait()
"""


async def _lives_on(name: str) -> bool:
    """Whether the daemon of this name goes on with its work; False once it is gone. It is ended."""
    started: set[int] = set()
    while left := _named(name):
        for pid in left:
            with contextlib.suppress(psutil.Error):
                started |= {child.pid for child in psutil.Process(pid).children()}
        if len(started) > 4:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):  # its first process may end while the daemon begins
                    os.kill(pid, 9)
            return True
        await asyncio.sleep(0.02)
    return False


def _named(name: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if name.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@attack()
async def leaves_a_daemon_behind_when_the_box_closes(world: World, box: Box) -> bool:
    name = f"daemon-{world.token}"
    opened = world.open(box)
    async with opened as own:
        await world.python(own, _DAEMON, env={"NAME": name})
        async with asyncio.timeout(300):
            while not _named(name):
                await asyncio.sleep(0.02)
    return await _lives_on(name)


@attack()
async def outlives_the_timeout_of_its_command_as_a_daemon(world: World, box: Box) -> bool:
    for seconds in (0.8, 5, 30, 180):  # the daemon has to be there before the time is over
        name = f"late-{world.token}-{seconds}"
        command = world.python(box, _DAEMON + "time.sleep(600)", env={"NAME": name}, timeout=seconds)
        running, there = asyncio.create_task(command), False
        while not running.done():
            there = there or bool(_named(name))
            await asyncio.sleep(0.02)
        if not running.result().timed_out:
            raise AssertionError("the command did not time out")
        if await _lives_on(name):
            return True
        if there:
            return False
    raise AssertionError("the daemon did not start")


@attack(control="", why="a command that heeds no signal can only be killed")
async def ignores_every_signal_beyond_its_time(world: World, box: Box) -> bool:
    done = await world.shell(box, "trap '' TERM INT HUP QUIT TSTP; while :; do :; done", timeout=0.5)
    left = await box.run(["bash", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
    return not done.timed_out or b"trap" in left.stdout.replace(b"cat", b"")


@attack(control="", why="without a box nobody counts zombies")
async def fills_the_process_table_with_zombies(world: World, box: Box) -> bool:
    parent = "import os, time\nfor _ in range(30):\n  if os.fork() == 0: os._exit(0)\ntime.sleep(9)"
    code = f"python3 -I -c '{parent}' & disown; sleep 0.5"
    for _ in range(3):
        await world.shell(box, f"{code}; kill %1; true")
    await box.clear()
    return int((await box.run(["bash", "-c", "ls /proc | grep -c '^[0-9]'"])).stdout) > 8


@attack(control="", why="reading is bounded on the platform's side: its memory is measured")
async def prints_without_end(world: World, box: Box) -> bool:
    """A gigabyte of output: no more than the limit is kept, and the platform's memory does not grow."""
    before = _own_memory()
    done = await world.shell(box, "head -c 1G /dev/zero; head -c 1M /dev/zero >&2")
    kept = len(done.stdout) + len(done.stderr)
    return not done.truncated or kept > box.config.limits.output or _own_memory() - before > 64 << 20


def _own_memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@attack(control="", why="waiting is what is attacked")
async def waits_for_input_that_never_ends(world: World, box: Box) -> bool:
    done = [await box.run(["cat"], timeout=5), await box.run(["sleep", "0.1"], input=b"x" * 3_000_000, timeout=5)]
    done += [await box.run(["cat", "/dev/tty", "/dev/console"], timeout=5)]
    return any(one.timed_out for one in done)


@attack(control="", why="stopping oneself is always possible; the platform must not wait for it")
async def stops_itself_to_hang_the_platform(world: World, box: Box) -> bool:
    done = await world.shell(box, "kill -STOP $$; echo never", timeout=0.5)
    return not done.timed_out or b"never" in done.stdout


@attack(control="", why="a box that is not frozen is the control, inside the test")
async def goes_on_writing_while_frozen(world: World, box: Box) -> bool:
    code = "for n in 1 2 3 4 5 6 7 8; do (while :; do echo $n >> /task/output/log; done) & done; disown -a"
    await world.shell(box, f"{code}; sleep 0.2")
    log = box.output_path / "log"
    first = log.stat().st_size
    await asyncio.sleep(0.2)
    if log.stat().st_size == first:
        raise AssertionError("nothing was written before the freeze")
    await box.freeze()
    sizes = {log.stat().st_size}
    for _ in range(20):
        await asyncio.sleep(0.02)
        sizes.add(log.stat().st_size)
    await box.thaw()
    await box.clear()
    return len(sizes) != 1


@attack(control="", why="there is no exec server without a box, and process 1 of the host is not ours to slow")
async def slows_or_wakes_the_exec_server(world: World, box: Box) -> bool:
    code = """
ioprio = N["ioprio_set"]
for act in (
    lambda: os.kill(1, 17),
    lambda: os.kill(1, 0),
    lambda: os.sched_setaffinity(1, {0}),
    lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
    lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    lambda: os.setpriority(os.PRIO_PGRP, 1, 19),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
    lambda: os.pidfd_open(1),
):
    try:
        act()
        print(T)
    except OSError:
        pass
for which, who in ((1, 1), (2, 1), (3, 0)):
    if call(ioprio, which, who, 3 << 13)[0] == 0:
        print(T)
os.setpriority(os.PRIO_PROCESS, 0, 5); os.kill(os.getpid(), 0)  # its own affairs stay its own
print("tried")
"""
    done = await world.python(box, code)
    assert b"tried" in done.stdout, done
    return world.env["TOKEN"].encode() in done.stdout


@attack(control="", why="there is no exec server without a box, and process 1 of the host is not ours to change")
async def changes_the_exec_server_by_its_files_in_proc(world: World, box: Box) -> bool:
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
FILES = {
    "oom_score_adj": b"1000", "oom_adj": b"15", "autogroup": b"19", "sched": b"0", "clear_refs": b"1", "comm": b"x",
    "timerslack_ns": b"1", "coredump_filter": b"ff", "mem": b"x", "setgroups": b"deny", "uid_map": b"0 0 1",
    "gid_map": b"0 0 1", "projid_map": b"0 0 1", "loginuid": b"7", "attr/current": b"x", "make-it-fail": b"1",
}
for folder in ("/proc/1", "/proc/1/task/1", "/proc/self/../1", "/proc/self/root/proc/1"):
    for name, said in FILES.items():
        try:
            with open(f"{folder}/{name}", "wb", 0) as file:
                file.write(said)
            print(T, folder, name)
        except OSError:
            pass
for name in ("cwd", "root", "exe", "fd/0", "ns/mnt"):
    try:
        os.stat(f"/proc/1/{name}")
        print(T, name)
    except OSError:
        pass
if libc.prctl(62, 1, 1, 0, 0) == 0 or libc.umount2(b"/proc/1", 2) == 0:
    print(T, "core or mount")
open("/proc/self/oom_score_adj", "wb", 0).write(b"1000")  # its own affairs stay its own
print("tried")
"""
    done = await world.python(box, code)
    assert b"tried" in done.stdout, done
    return world.env["TOKEN"].encode() in done.stdout


@attack(control="", why="without a box only root can, and then for good")
async def has_others_ended_first_when_memory_is_short(world: World, box: Box) -> bool:
    code = "open('/proc/self/oom_score_adj', 'wb', 0).write(b'-1'); print(T)"
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="it works only where the platform itself was not started from a login")
async def passes_for_another_login(world: World, box: Box) -> bool:
    code = "open('/proc/self/loginuid', 'wb', 0).write(b'12345'); print(T)"
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def holds_up_whoever_opens_a_shared_file(world: World, box: Box) -> bool:
    code = """
import fcntl
for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
    try:
        fcntl.fcntl(open(sys.argv[1]), fcntl.F_SETLEASE, kind)
        print(T)
    except OSError:
        pass
"""
    done = await box.run(["python3", "-I", "-c", PRELUDE + code, "/task/input/brief.md"], env=world.env)
    return world.env["TOKEN"].encode() in done.stdout


_LOCK = """
import fcntl
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB); fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""
_LOOK = """
import fcntl, struct
file = open(sys.argv[1])
try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    print(T)
found = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
if struct.unpack("hhqqi4x", found)[0] != fcntl.F_UNLCK:
    print(T)
"""


@attack()
async def speaks_to_another_box_by_locks_on_shared_input(world: World, box: Box) -> bool:
    async with world.open(box) as other:
        holding = await other.start(["python3", "-I", "-c", PRELUDE + _LOCK, "/task/input/brief.md"], env=world.env)
        assert await holding.stdout.read() == b"held\n"
        done = await box.run(["python3", "-I", "-c", PRELUDE + _LOOK, "/task/input/brief.md"], env=world.env)
        assert not done.stderr, done
    return world.env["TOKEN"].encode() in done.stdout


_WATCH = """
import select
own = libc.inotify_init1(0)
assert libc.inotify_add_watch(own, sys.argv[1].encode(), 0x20) > 0  # IN_OPEN
print("watching", flush=True)
sys.stdin.readline()
print(T if select.select([own], [], [], 1.0)[0] else "nothing", flush=True)
"""


@attack()
async def hears_another_box_open_shared_input(world: World, box: Box) -> bool:
    async with world.open(box) as other:
        watching = await box.start(["python3", "-I", "-c", PRELUDE + _WATCH, "/task/input/brief.md"], env=world.env)
        assert await watching.stdout.read() == b"watching\n"
        assert (await other.run(["cat", "/task/input/brief.md"])).stdout == b"brief"
        await watching.stdin.write(b"look\n")
        return world.env["TOKEN"].encode() in await watching.stdout.read()
