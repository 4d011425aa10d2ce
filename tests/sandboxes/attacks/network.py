"""The network: services of the host, the way out, raw packets, other address families."""

from __future__ import annotations

import asyncio
import socket

from worksample.box import Box

from .world import PRELUDE, World, attack, free_port


@attack()
async def connects_to_a_service_on_the_hosts_loopback(world: World, box: Box) -> bool:
    return world.found(
        await world.python(box, 'print(socket.create_connection(("127.0.0.1", int(os.environ["TCP"])), 3).recv(99))')
    )


@attack()
async def asks_a_udp_service_of_the_host(world: World, box: Box) -> bool:
    code = """
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asking.settimeout(2)
asking.sendto(b"who", ("127.0.0.1", int(os.environ["UDP"])))
print(asking.recv(99))
"""
    return world.found(await world.python(box, code))


@attack()
async def connects_to_an_abstract_unix_socket(world: World, box: Box) -> bool:
    code = 's = socket.socket(socket.AF_UNIX); s.connect("\\0" + os.environ["ABSTRACT"]); print(s.recv(99))'
    return world.found(await world.python(box, code))


@attack()
async def connects_to_a_unix_socket_by_path(world: World, box: Box) -> bool:
    code = 's = socket.socket(socket.AF_UNIX); s.connect(os.environ["SERVICE"]); print(s.recv(99))'
    return world.found(await world.python(box, code))


def _has_route() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.connect(("192.0.2.1", 9))
        except OSError:
            return False
    return True


_CONNECT = "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 9)); print(T)"


@attack(control="plain" if _has_route() else "", why="the host has no route to anywhere itself")
async def finds_a_way_to_the_internet(world: World, box: Box) -> bool:
    done = await world.python(box, _CONNECT)
    return world.env["TOKEN"].encode() in done.stdout


@attack(control="root")
async def opens_raw_sockets(world: World, box: Box) -> bool:
    code = """
for family, kind, protocol in ((2, 3, 1), (17, 3, 0x300), (10, 3, 58)):
    try:
        socket.socket(family, kind, protocol); print(T)
    except OSError:
        pass
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack(control="plain" if len(socket.if_nameindex()) > 1 else "", why="the host has no interface but loopback")
async def sees_the_hosts_interfaces(world: World, box: Box) -> bool:
    done = await world.python(box, "print(socket.if_nameindex()); print(T if len(socket.if_nameindex()) > 1 else '')")
    return world.env["TOKEN"].encode() in done.stdout


@attack(control="root")
async def makes_an_interface_over_netlink(world: World, box: Box) -> bool:
    """RTM_NEWLINK of a dummy interface without NLM_F_CREATE's completion: EPERM where it is not allowed at all."""
    code = """
import struct
n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
n.bind((0, 0))
body = struct.pack("=BxHiII", 0, 0, 1, 0, 0)
n.send(struct.pack("=IHHII", 16 + len(body), 16, 5, 1, 0) + body)
answer = struct.unpack_from("=i", n.recv(999), 16)[0]
print(answer, T if answer == 0 else "")
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def opens_sockets_that_know_no_namespaces(world: World, box: Box) -> bool:
    """vsock leads to the hypervisor, alg into the kernel's ciphers: neither asks which network one is in."""
    code = """
for family in (38, 40, 41, 29, 44, 30):
    try:
        socket.socket(family, socket.SOCK_SEQPACKET if family == 38 else socket.SOCK_STREAM); print(T)
    except OSError as failure:
        if failure.errno not in (97, 94, 93):
            print(T)
        if family in (38, 40) and failure.errno != 97:
            print(T)
"""
    return world.env["TOKEN"].encode() in (await world.python(box, code)).stdout


@attack()
async def offers_a_service_to_the_host(world: World, box: Box) -> bool:
    port = free_port()
    code = f"""
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", {port})); s.listen(); print("listening", flush=True)
time.sleep(600)
"""
    service = await box.start(["python3", "-I", "-c", PRELUDE + code], env=world.env)
    try:
        if await service.stdout.read() != b"listening\n":
            raise AssertionError("the service did not start")
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
    except OSError:
        return False
    finally:
        await service.kill()
    return True


_NO_ENDPOINTS = "without a box there are no endpoints"


@attack(control="", why=_NO_ENDPOINTS)
async def reaches_the_host_by_an_allowed_name_that_leads_there(world: World, box: Box) -> bool:
    code = 's = socket.create_connection(("inside.example.com", 80), 3); s.sendall(b"x"); print(s.recv(99))'
    return world.found(await world.python(box, code))


@attack(control="", why=_NO_ENDPOINTS)
async def reaches_another_port_of_an_endpoint(world: World, box: Box) -> bool:
    code = r"""
for host in ("127.65.0.1", "127.65.0.2", "inside.example.com", "127.65.0.3"):
    try: print(socket.create_connection((host, int(os.environ["TCP"])), 3).recv(99))
    except OSError: pass
"""
    return world.found(await world.python(box, code))


@attack(control="", why=_NO_ENDPOINTS)
async def takes_the_place_of_an_endpoint(world: World, box: Box) -> bool:
    code = r"""
for host in ("127.65.0.2", "0.0.0.0"):
    for options in ((), (socket.SO_REUSEPORT,), (socket.SO_REUSEADDR,), (socket.SO_REUSEPORT, socket.SO_REUSEADDR)):
        s = socket.socket()
        for option in options: s.setsockopt(socket.SOL_SOCKET, option, 1)
        try: s.bind((host, 3128)); s.listen(); print(os.environ["TOKEN"])
        except OSError: pass
"""
    done = await world.python(box, code)
    return world.env["TOKEN"].encode() in done.stdout


@attack(control="", why=_NO_ENDPOINTS)
async def gives_the_name_of_an_endpoint_another_address(world: World, box: Box) -> bool:
    code = r"""
for path in ("/etc/hosts", "/run/worksample/hosts"):
    for act in (lambda: open(path, "a").write("127.0.0.1 inside.example.com\n"), lambda: os.unlink(path),
                lambda: os.rename(path, path + ".old"), lambda: os.chmod(path, 0o666)):
        try: act(); print(os.environ["TOKEN"])
        except OSError: pass
"""
    done = await world.python(box, code)
    return world.env["TOKEN"].encode() in done.stdout


@attack(control="", why=_NO_ENDPOINTS)
async def asks_the_proxy_for_the_host_in_other_words(world: World, box: Box) -> bool:
    code = r"""
port = os.environ["TCP"]
for host in ("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost",
             "localhost.", "127.0.0.1.example.com", "example.com", "evilexample.com", "localhost%00.example.com",
             "localhost#.example.com", "localhost:" + port + "@a.example.com"):
    try:
        s = socket.create_connection(("proxy.internal", 3128), 3)
        s.sendall(("CONNECT " + host + ":" + port + " HTTP/1.1\r\n\r\n").encode())
        s.settimeout(3)
        said = s.recv(4096)
        print(said)
        if b" 200 " in said: print(s.recv(99))
    except OSError: pass
"""
    return world.found(await world.python(box, code))
