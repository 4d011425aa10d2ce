"""What the model gateway costs: a call from inside a box through it, beside the same call of the model direct.

    python benchmarks/model_gateway.py [--calls 100] [--rounds 5] [--characters 20000]

The model is a service on loopback that answers at once. "service" is a bare HTTP call to it from a process on the host:
the floor. "direct" is Inspect's `generate` in this process. "gateway" is a program in a box that speaks each dialect
over a kept connection: endpoint, HTTP, translation, the same `generate`, and back. The conversation has `--characters`.
All are taken in turn within each round.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import sys
import time
from pathlib import Path

from worksample.box import Box, BoxConfig, Endpoint
from worksample.models import ModelService, resolve
from worksample.models.gateway import ModelGateway
from worksample.sandboxes import open_box
from worksample.sandboxes.endpoints import StreamTarget, serve_endpoints

MODEL = Endpoint("model.internal", 80)
CLIENT = """
import http.client, json, sys, time
host, port, path, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
body = json.dumps(json.load(sys.stdin)).encode()
connection = http.client.HTTPConnection(host, port)
times = []
for _ in range(count):
    began = time.perf_counter()
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    said = answer.read()
    assert answer.status == 200, said
    times.append(1000 * (time.perf_counter() - began))
print(json.dumps(times))
"""


def bodies(text: str) -> dict[str, tuple[str, dict[str, object]]]:
    """The same request in each dialect: path and body."""
    turn = {"role": "user", "content": text}
    return {
        "chat": ("/v1/chat/completions", {"model": "m", "messages": [turn]}),
        "responses": ("/v1/responses", {"model": "m", "input": text}),
        "messages": ("/v1/messages", {"model": "m", "max_tokens": 100, "messages": [turn]}),
        "gemini": ("/v1beta/models/m:generateContent", {"contents": [{"role": "user", "parts": [{"text": text}]}]}),
    }


async def bare(port: int, body: object, count: int) -> list[float]:
    """Calls of the service itself from another process."""
    words = [sys.executable, "-c", CLIENT, "127.0.0.1", str(port), "/v1/chat/completions", str(count)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    out, _ = await process.communicate(json.dumps(body).encode())
    return [float(value) for value in json.loads(out)]


async def through(box: Box, path: str, body: object, count: int) -> list[float]:
    """Calls from inside a box."""
    words = ["python3", "-c", CLIENT, MODEL.name, str(MODEL.port), path, str(count)]
    done = await box.run(words, input=json.dumps(body).encode())
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return [float(value) for value in json.loads(done.stdout)]


def show(found: dict[str, list[float]]) -> None:
    """The table."""
    direct = found["direct"]
    middle, late = statistics.median(direct), statistics.quantiles(direct, n=20)[-1]
    print(f"{'':18}{'median ms':>10}{'p95 ms':>9}{'+ median':>10}{'+ p95':>8}")
    for name, times in found.items():
        one, two = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{name:18}{one:10.2f}{two:9.2f}{one - middle:10.2f}{two - late:8.2f}")


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--characters", type=int, default=20_000)
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    from openai_server import says
    from openai_server import serving as service

    text = "word " * (given.characters // 5)
    found: dict[str, list[float]] = {}
    with service([says("done")]) as served:
        model = resolve("openai-api/local/m", ModelService(args=served.args))
        port = int(served.base_url.rpartition(":")[2].partition("/")[0])
        gateway = ModelGateway(model, ("m",))
        async with contextlib.AsyncExitStack() as stack:
            box = await stack.enter_async_context(open_box(BoxConfig(network="endpoints", endpoints=(MODEL,))))
            await stack.enter_async_context(serve_endpoints(box, {MODEL: StreamTarget("gateway", gateway.serve)}))
            for _ in range(given.rounds):
                chat = bodies(text)["chat"][1]
                found.setdefault("service", []).extend(await bare(port, chat, given.calls))
                for _ in range(given.calls):
                    began = time.perf_counter()
                    await model.generate(text)
                    found.setdefault("direct", []).append(1000 * (time.perf_counter() - began))
                for name, (path, body) in bodies(text).items():
                    found.setdefault(f"gateway: {name}", []).extend(await through(box, path, body, given.calls))
    show(found)


if __name__ == "__main__":
    asyncio.run(main())
