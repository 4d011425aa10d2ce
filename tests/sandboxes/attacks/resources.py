"""Resources: memory in all its forms, disk, files. The host must not notice."""

from __future__ import annotations

from worksample.box import Box, Completed

from .world import World, attack

_DANGER = "filling the host's own memory or disk is not tried"


def _ended(done: Completed) -> bool:
    """Whether the command was stopped before it could say that it had all it wanted."""
    return b"HAVE IT ALL" not in done.stdout


@attack(control="", why=_DANGER)
async def takes_more_memory_than_its_limit(world: World, box: Box) -> bool:
    done = await world.python(box, "x = bytearray(900 << 20); print('HAVE IT ALL')")
    return not _ended(done)


@attack(control="", why=_DANGER)
async def takes_memory_by_shared_mappings(world: World, box: Box) -> bool:
    code = """
import mmap
m = mmap.mmap(-1, 900 << 20)
for at in range(0, len(m), 4096):
    m[at] = 1
print("HAVE IT ALL")
"""
    done = await world.python(box, code)
    return not _ended(done) or not done.oom


@attack(control="", why=_DANGER)
async def takes_memory_by_nameless_files(world: World, box: Box) -> bool:
    code = """
f = os.memfd_create("x")
for _ in range(900):
    os.write(f, b"x" * (1 << 20))
print("HAVE IT ALL")
"""
    return not _ended(await world.python(box, code))


@attack(control="", why=_DANGER)
async def takes_memory_by_system_v_segments(world: World, box: Box) -> bool:
    """Segments that no process is attached to belong to nobody, but to the box."""
    code = """
import platform
get, attach, detach = (194, 196, 197) if platform.machine() == "aarch64" else (29, 30, 67)
libc.syscall.restype = ctypes.c_long
for _ in range(18):
    key = call(get, 0, 50 << 20, 0o1600)[0]
    if key < 0:
        break
    where = call(attach, key, 0, 0)[0]
    ctypes.memset(ctypes.c_void_p(where), 1, 50 << 20)
    call(detach, ctypes.c_void_p(where))
else:
    time.sleep(0.5)
    print("HAVE IT ALL")
"""
    return not _ended(await world.python(box, code))


@attack(control="", why=_DANGER)
async def takes_memory_by_many_processes(world: World, box: Box) -> bool:
    """Each well below the limit, together far above it."""
    one = "x = bytearray(60 << 20); time.sleep(2); print('HAVE IT')"
    code = f"""
import subprocess
running = [subprocess.Popen([sys.executable, "-I", "-c", "import time\\n" + {one!r}], stdout=-1) for _ in range(15)]
got = [p.communicate()[0] for p in running]
print("HAVE IT ALL" if all(got) else got)
"""
    done = await world.python(box, code)
    return not _ended(done) or not done.oom


@attack(control="", why=_DANGER)
async def fills_the_disk_in_every_place_at_once(world: World, box: Box) -> bool:
    """Half of the limit in each of its folders: only two of them fit, because one limit holds for all."""
    places = "/task/output /task/scratch /tmp /var/tmp /dev/shm "
    places += "/ /usr/bin /etc /root" if world.image else "/home/agent /opt"
    code = f'for p in {places}; do head -c 32M /dev/zero > $p/fill; all="$all $p/fill"; done; cat $all | wc -c'
    done = await world.shell(box, code)
    written = int(done.stdout.split()[-1])
    return written > box.config.limits.disk or b"No space left" not in done.stderr


@attack(control="", why=_DANGER)
async def makes_files_without_end(world: World, box: Box) -> bool:
    code = """
made = 0
try:
    for n in range(100_000):
        os.close(os.open(f"/task/output/{n}", os.O_CREAT)); made += 1
except OSError as failure:
    print(failure.errno)
print(made)
"""
    done = await world.python(box, code)
    number, made = (int(word) for word in done.stdout.split())
    return number != 28 or made > box.config.limits.files


@attack(control="", why=_DANGER)
async def makes_folders_and_links_without_end(world: World, box: Box) -> bool:
    code = """
made = 0
try:
    for n in range(100_000):
        os.mkdir(f"/tmp/d{n}"); os.symlink("x", f"/tmp/l{n}"); made += 2
except OSError as failure:
    print(failure.errno)
print(made)
"""
    done = await world.python(box, code)
    number, made = (int(word) for word in done.stdout.split())
    return number != 28 or made > box.config.limits.files


@attack(control="", why=_DANGER)
async def hides_space_in_deleted_open_files(world: World, box: Box) -> bool:
    code = """
held = []
try:
    for n in range(40):
        f = open(f"/task/scratch/{n}", "wb"); os.unlink(f.name); held.append(f)
        f.write(b"x" * (4 << 20)); f.flush()
    print("HAVE IT ALL")
except OSError as failure:
    print(failure)
os._exit(0)
"""
    return not _ended(await world.python(box, code))


@attack(control="", why="the limit of a box is asked from inside")
async def raises_its_own_limits(world: World, box: Box) -> bool:
    code = """
import resource
for which in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE, resource.RLIMIT_MEMLOCK):
    soft, hard = resource.getrlimit(which)
    try:
        resource.setrlimit(which, (hard + 1, hard + 1)); print(T)
    except (OSError, ValueError):
        pass
    if hard == resource.RLIM_INFINITY:
        print(T)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="it attacks the box's own bookkeeping")
async def makes_itself_uncountable(world: World, box: Box) -> bool:
    """A process that may not be looked at must still be counted and ended."""
    code = """
import shutil, subprocess
shutil.copyfile(os.path.realpath(sys.executable), "p"); os.chmod("p", 0o111)
libc.prctl(4, 0, 0, 0, 0)
inner = "x = bytearray(90 << 20)\\nimport mmap\\nm = mmap.mmap(-1, 900 << 20)\\n"
inner += "for at in range(0, len(m), 4096): m[at] = 1\\nprint('HAVE IT ALL')"
home = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
done = subprocess.run(["./p", "-S", "-c", inner], capture_output=True, env={"PYTHONHOME": sys.base_prefix})
print(done.returncode, done.stdout, done.stderr)
"""
    done = await world.python(box, code)
    if b"Traceback" in done.stdout + done.stderr:
        raise AssertionError(done.stdout + done.stderr)
    return not _ended(done)
