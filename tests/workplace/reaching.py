"""Runs in a box: tries to reach another workplace's services by every way that there could be. Prints what it reached.

python3 reaching.py '{"own": WORD, "words": [...], "tokens": [...], "paths": [...], "addresses": [...]}'
"""

import base64
import contextlib
import ctypes
import http.client
import json
import os
import socket
import sys
from pathlib import Path

given = json.loads(sys.argv[1])
found = []
PORTS = (3000, 8091, 8092, 8929, 5232, 5280, 3923, 15232, 80)
NAMES = ("chat", "tracker", "files", "git", "calendar", "rocketchat", "owncloud", "workplace", "chat.localhost")


def asked(host, port, path, head):
    """The body, or "" where nobody answers or somebody refuses."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        line = http.client.HTTPConnection(host, port, timeout=20)
        line.request("GET", path, headers=head)
        answer = line.getresponse()
        text = answer.read().decode("utf-8", "replace")
        return text if answer.status < 300 else ""
    return ""


def basic(who):
    return {"Authorization": "Basic " + base64.b64encode(who.encode()).decode()}


# By name: what answers there is my own. Another workplace has said a word of its own in its room.
for name in NAMES:
    for word in given["words"]:
        if word in asked(name, 3000, "/api/rooms/general", basic(given["me"])):
            found.append(f"{name} has the word of another: {word}")

# By address: this machine's own, those of names in boxes, and the whole of what a box could have as a network.
mine = {line.split()[0] for line in Path("/etc/hosts").read_text().splitlines() if line.strip() and line[0].isdigit()}
for address in [*given["addresses"], *(f"127.{a}.0.{b}" for a in (0, 1, 65, 66) for b in range(1, 9))]:
    for port in PORTS:
        with contextlib.suppress(OSError), socket.create_connection((address, port), 2):
            text = asked(address, port, "/api/rooms/general", basic(given["me"]))
            if address not in mine or any(word in text for word in given["words"]):
                found.append(f"{address}:{port} answers: {text[:80]}")
interfaces = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
found += [f"an interface {name}" for name in interfaces if name != "lo"]

# By the path of a socket, or its abstract name.
for path in given["paths"]:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        found.append(f"{path!r} takes connections")
    if not path.startswith("\0") and Path(path).exists():
        found.append(f"{path} is there")

# By a token of another: passwords, keys, sessions that open something there.
for token in given["tokens"]:
    tries = (
        ("chat", 3000, "/api/people", basic(f"operator:{token}")),
        ("chat", 3000, "/api/me", {"Authorization": f"Bearer {token}"}),
        ("rocketchat", 3000, "/api/v1/me", {"X-Auth-Token": token, "X-User-Id": given["user"]}),
        ("tracker", 8091, "/users.json", {"X-Redmine-API-Key": token}),
        ("tracker", 8091, "/my/page", {"Cookie": token}),
        ("files", 8092, "/", {"Cookie": f"cppwd={token}"}),
        ("files", 8092, "/finance/payroll.csv", basic(f"operator:{token}")),
        ("calendar", 5232, "/rosa/calendar/", basic(f"operator:{token}")),
        ("git", 8929, "/billing.git/info/refs?service=git-upload-pack", basic(f"operator:{token}")),
    )
    for host, port, path, head in tries:
        if text := asked(host, port, path, head):
            if "cppwd" in str(head) and "finance" not in text:
                continue  # the page for whoever has no account
            found.append(f"a token opens {host}{path}: {text[:80]}")

# By processes: none of another is seen, and nothing shared is written to.
for path in (*Path("/proc").glob("[0-9]*/environ"), *Path("/proc").glob("[0-9]*/cmdline")):
    with contextlib.suppress(OSError):
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path} tells {one}" for one in given["tokens"] if one in text and str(os.getpid()) not in str(path)]
for folder in ("/dev/shm", "/tmp", "/var/tmp"):
    found += [f"{path} is there" for path in Path(folder).glob("left-by-*")]
    with contextlib.suppress(OSError):
        Path(folder, f"left-by-{given['own']}").touch()
libc = ctypes.CDLL(None, use_errno=True)
for key in (0x5757, 0x5758):  # System V shared memory of one key
    if libc.shmget(key, 4096, 0o666) >= 0:
        found.append(f"shared memory {key:#x} is there")
libc.shmget(0x5757, 4096, 0o1666)
print(json.dumps(sorted(set(found))))
