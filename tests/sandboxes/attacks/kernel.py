"""The kernel's own doors: mounts, namespaces, devices, keys, settings, filters."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from pathlib import Path

from worksample.box import Box

from .world import World, attack


@attack(control="root")
async def mounts_and_changes_its_root(world: World, box: Box) -> bool:
    """In a forked child with its own mount namespace where that can be had, so that the control harms nothing."""
    code = """
if call("unshare", 0x20000)[0] == 0:
    libc.mount(None, b"/", None, ctypes.c_ulong(0x44000), None)
    os.makedirs("m", exist_ok=True)
done = [libc.mount(b"t", b"m", b"tmpfs", ctypes.c_ulong(0), None), call("fsopen", b"tmpfs", 0)[0] >= 0 and 0 or -1,
        call("open_tree", -100, b"/", 1)[0] >= 0 and 0 or -1, call("chroot", b"/")[0]]
print(done, T if 0 in done else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def makes_a_user_namespace(world: World, box: Box) -> bool:
    """With one it would be root over namespaces of its own, and over much more of the kernel."""
    code = """
import platform
clone = 220 if platform.machine() == "aarch64" else 56
pid, _ = call(clone, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0:
    os._exit(0)
if pid > 0:
    os.waitpid(pid, 0); print(T)
if call("unshare", 0x10000000)[0] == 0:
    print(T)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def makes_namespaces_by_the_newer_call(world: World, box: Box) -> bool:
    code = """
import struct
words = ctypes.create_string_buffer(struct.pack("=11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))
pid, error = call("clone3", words, 88)
if pid == 0:
    os._exit(0)
print(pid, error, T if pid > 0 else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def enters_the_namespaces_of_process_1(world: World, box: Box) -> bool:
    code = """
for name in ("mnt", "net", "user", "pid", "uts", "ipc", "cgroup"):
    try:
        if call("setns", os.open(f"/proc/1/ns/{name}", os.O_RDONLY), 0)[1] != 1:
            print(T)
    except OSError:
        pass
try:
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    if call("setns", descriptor, 0x99)[1] == 22:
        print(T)  # the call itself is let through
except OSError:
    pass
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="root")
async def makes_and_opens_device_nodes(world: World, box: Box) -> bool:
    code = """
import stat
nodes = ("mem", stat.S_IFCHR, (1, 1)), ("disk", stat.S_IFBLK, (254, 0)), ("null", stat.S_IFCHR, (1, 3))
for name, mode, device in nodes:
    try:
        os.mknod(name, 0o600 | mode, os.makedev(*device)); print(T)
    except OSError:
        pass
allowed = "null zero full random urandom tty console ptmx pts shm core fd stdin stdout stderr mqueue"
for name in set(os.listdir("/dev")) - set(allowed.split()):
    print(name, T)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def uses_the_kernels_keyrings(world: World, box: Box) -> bool:
    code = """
kept = call("add_key", b"user", b"worksample-test", b"x", 1, -2)[0]
ring = call("keyctl", 0, -4, 0)[0]
print(kept, ring, T if kept > 0 or ring > 0 else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="root")
async def types_into_a_terminal(world: World, box: Box) -> bool:
    """TIOCSTI on a terminal puts commands into the mouth of whoever reads from it."""
    code = """
import fcntl, pty, termios
if os.fork() == 0:
    os.setsid()
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    try:
        fcntl.ioctl(slave, 0x5412, b"x"); print(T, flush=True)
    except OSError as failure:
        print(failure, flush=True)
    os._exit(0)
os.wait()
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="the terminal of a test run may or may not exist")
async def finds_the_terminal_of_the_platform(world: World, box: Box) -> bool:
    return (await box.run(["bash", "-c", "exec 3<>/dev/tty && echo open"])).stdout != b""


@attack()
async def reaches_little_tried_parts_of_the_kernel(world: World, box: Box) -> bool:
    """With null arguments: EFAULT or EINVAL would say that the call was let through."""
    code = """
for name in ("io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "kexec_load", "init_module", "quotactl",
             "open_by_handle_at", "name_to_handle_at", "fanotify_init", "move_pages", "memfd_secret", "acct"):
    result, error = call(name, 0, 0, 0, 0, 0)
    if result >= 0 or error not in (1, 38):
        print(name, result, error, T)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="plain" if os.uname().machine == "x86_64" else "", why="only x86_64 has a second way in")
async def goes_round_the_filter_by_the_32_bit_door(world: World, box: Box) -> bool:
    """int 0x80 speaks another numbering, which a filter that forgets the architecture lets through. 20 is getpid."""
    code = """
import mmap
room = mmap.mmap(-1, 4096, prot=7)
room.write(bytes.fromhex("b814000000cd80c3"))
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(room)))
got = function()
print(got, T if got == os.getpid() else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="a kernel without x32 refuses it everywhere; what is asked is that the filter never passes it")
async def goes_round_the_filter_by_the_x32_numbers(world: World, box: Box) -> bool:
    code = """
got, error = call(0x40000000 | 39)
print(got, error, T if got > 0 else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="", why="the host's clock and name are not changed to show that they could be")
async def changes_the_clock_or_the_name(world: World, box: Box) -> bool:
    name, offset = socket.gethostname(), time.time() - time.monotonic()
    code = """
words = ctypes.create_string_buffer(16)
for call_name, *rest in (("clock_settime", 0, words), ("settimeofday", words, 0), ("sethostname", b"x", 1),
                         ("setdomainname", b"x", 1)):
    if call(call_name, *rest)[0] == 0:
        print(T)
"""
    done = await world.python(box, code)
    moved = socket.gethostname() != name or abs(time.time() - time.monotonic() - offset) > 60
    return moved or world.env["TOKEN"].encode() in done.stdout


@attack(control="root")
async def writes_to_the_settings_in_proc(world: World, box: Box) -> bool:
    """Opened for writing only, nothing is written."""
    code = """
places = ["sysrq-trigger", "sys/kernel/core_pattern", "sys/vm/drop_caches", "irq/default_smp_affinity",
          "sys/kernel/modprobe", "sys/fs/binfmt_misc/register", "timer_list", "kcore", "kmsg"]
for place in places:
    try:
        if place in ("kcore", "kmsg", "timer_list"):
            print(place, T if os.read(os.open("/proc/" + place, os.O_RDONLY | os.O_NONBLOCK), 1) else "")
        else:
            os.open("/proc/" + place, os.O_WRONLY); print(place, T)
    except OSError:
        pass
for folder, below, files in os.walk("/proc/sys"):
    for name in files:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY)); print(folder, name, T)
        except OSError:
            pass
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="root")
async def leaves_its_control_groups(world: World, box: Box) -> bool:
    code = """
import glob
for place in glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True) + glob.glob("/sys/fs/cgroup/*/release_agent"):
    if os.access(place, os.W_OK):
        print(place, T); break
os.makedirs("cg", exist_ok=True)
for kind in (b"cgroup2", b"cgroup"):
    if libc.mount(b"c", b"cg", kind, ctypes.c_ulong(0), b"memory") == 0:
        print(T); libc.umount2(b"cg", 2)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def finds_devices_and_drivers_in_sys(world: World, box: Box) -> bool:
    done = await world.python(box, 'print(T if os.path.isdir("/sys") and os.listdir("/sys") else "")')
    return world.env["TOKEN"].encode() in done.stdout


@attack(control="root")
async def keeps_a_capability(world: World, box: Box) -> bool:
    code = """
lines = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
kept = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(lines[name], 16)]
loose = lines["NoNewPrivs"].strip() != "1" or lines["Seccomp"].strip() != "2"
print(kept, T if kept or loose else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="root", only="root")
async def is_the_hosts_root(world: World, box: Box) -> bool:
    """The host's id of a process of the box."""
    name = f"who-{world.token}"
    await world.shell(box, f"exec -a {name} sleep 20 >/dev/null 2>&1 & disown")
    from .processes import _named

    owners: set[int] = set()
    for _ in range(100):
        # The shell is back before its child has taken the name.
        owners = {Path(f"/proc/{pid}").stat().st_uid for pid in _named(name)}
        if owners:
            break
        await asyncio.sleep(0.05)
    else:
        raise AssertionError("no process of the box was found on the host")
    return 0 in owners


@attack(control="", why="a core is written where the host's own setting says, which is not changed here")
async def has_a_core_dumped(world: World, box: Box) -> bool:
    done = await world.shell(box, "ulimit -c unlimited; sh -c 'kill -SEGV $$'; ls -A; ulimit -c")
    return b"core" in done.stdout or done.stdout.split()[-1:] != [b"0"]


@attack(control="root")
async def asks_the_kernel_log(world: World, box: Box) -> bool:
    code = """
size, error = call("syslog", 10, 0, 0)
print(size, error, T if size > 0 else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout
