"""A site of pages that behave well and badly, served in the agent's own box, as a program there would."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sandboxes.browser.unkind_pages import PAGES as UNKIND
from worksample.box import Box, BoxConfig, BoxLimits
from worksample.sandboxes import open_box
from worksample.sandboxes.browser import Browser, BrowserConfig, BrowserLedger, BrowserObservation

LIMITS = BoxLimits(memory=4 << 30, processes=512)
USUAL = BrowserConfig()
AT = "http://127.0.0.1:8000"
PROGRAM = (
    f"UNKIND = { {name: one.body for name, one in UNKIND.items()}!r}"
    + r'''
import http.server, time, urllib.parse
FORM = """<title>Form</title><form action=/sent><label for=n>Name</label><input id=n name=n>
<select name=s aria-label=Size><option value=1>small</option><option value=2>large</option></select>
<input type=checkbox aria-label=Agreed name=c><button>Send</button></form>
<div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML=
'<button onclick="document.title=\\'Shadow\\'">In shadow</button>'
</script><iframe title=within srcdoc="<button onclick='this.textContent=&quot;Pressed&quot;'>Inner</button>"></iframe>
<div style="height:3000px"></div><p id=low>Far below</p>"""
PAGES = {
  "/": "<title>Start</title><h1>Start</h1><a href=/form>To the form</a> <a href=/file>A file</a>"
       "<a href=/form target=_blank>Another tab</a>",
  "/form": FORM,
  "/member": "<title>Members</title><form action=/enter><input name=u><input name=p type=password><button>Go</button>"
             "</form>",
  "/upload": "<title>Up</title><input type=file aria-label=File "
             "onchange=\"this.files[0].text().then(t=>document.title=t)\">",
  "/two": "<title>Two</title><input type=file multiple aria-label=Files "
          "onchange=\"document.title=[...this.files].map(f=>f.name).join('+')\">",
  "/fields": "<title>Fields</title><style>body{margin:0}#pad{position:absolute;left:0;top:300px;width:400px;"
             "height:200px}</style><input type=checkbox aria-label=Agreed><input aria-label=Text value=before><button "
             "onclick=\"document.title=prompt('Name?','usual')+'/'+confirm('Sure?')\">Ask</button><div id=pad></div>"
             "<p id=log></p><script>for(const one of ['mousedown','mouseup','dblclick'])pad.addEventListener(one,"
             "e=>log.textContent+=one+e.offsetX+' ');"
             "document.addEventListener('keydown',e=>log.textContent+='down'+e.key+' ');"
             "document.addEventListener('keyup',e=>log.textContent+='up'+e.key+' ')</script>",
  "/confirm": "<title>C</title><button onclick=\"document.title=confirm('Sure?')\">Delete</button>",
  "/alerts": "<title>A</title><script>setTimeout(()=>{for(;;)alert(1)},50)</script>",
  "/popups": "<title>P</title><script>for(let i=0;i<60;i++)open('/')</script>",
  "/endless": "<title>E</title><button onclick='for(;;){}'>Go</button>",
  "/spin": "<title>S</title><script>location='/spin?'+Math.random()</script>",
  "/huge": "<title>H</title><button>First</button><script>for(let i=0;i<300000;i++)document.body.append("
           "document.createElement('p'))</script>",
  "/deep": "<title>D</title><button>Top</button><script>let e=document.body;for(let i=0;i<3000;i++){const d="
           "document.createElement('div');e.append(d);e=d}</script>",
  "/nested": "<title>N</title><button>Top</button>" + "<div>" * 400 + "low",
  "/frames": "<title>F</title><button>Outer</button><iframe src=/frames></iframe><iframe src=/frames></iframe>",
  "/tampered": "<title>T</title><button>Real</button><script>Element.prototype.getAttribute=()=>'x';"
               "Element.prototype.setAttribute=()=>{throw 1};Document.prototype.querySelectorAll=()=>[];"
               "JSON.stringify=()=>'no';Array.prototype.push=()=>{throw 1};window.innerWidth=1e9</script>",
  "/memory": "<title>M</title>"
             "<button onclick=\"const a=[];for(;;)a.push(new Uint8Array(1<<26).fill(7))\">Eat</button>",
  "/bids": "<title>B</title><button bid=0>One</button><button bid=0>Two</button><button bid='\"]; x'>Three</button>"
           "<button bid=99999999999999999999>Four</button>",
}
NAMES = {"up": "../../output/evil.txt", "absolute": "/task/output/evil.txt", "hidden": ".bashrc",
         "long": "a" * 5000, "markup": "%3Cscript%3E\\..\\x.html"}
class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/loop":
            return self.go("/loop?" + str(time.time()))
        if path == "/file":
            return self.say(b"some content", "application/octet-stream", "report.bin")
        if path.startswith("/named/"):
            return self.say(b"content", "application/octet-stream", '"' + NAMES[path[7:]] + '"')
        if path == "/flood":
            self.send_response(200); self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Disposition", "attachment; filename=flood"); self.end_headers()
            while True: self.wfile.write(bytes(1 << 20))
        if path == "/enter":
            self.send_response(302); self.send_header("Location", "/inside")
            if query == "u=ann&p=s3cret": self.send_header("Set-Cookie", "member=ann")
            return self.end_headers()
        if path == "/inside" and "member=ann" not in self.headers.get("Cookie", ""):
            return self.say(PAGES["/member"].encode(), "text/html")
        if path == "/inside":
            return self.say(b"<title>Inside</title>Hello ann", "text/html")
        if path == "/basic" and self.headers.get("Authorization") != "Basic YW5uOnMzY3JldA==":
            self.send_response(401); self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0"); return self.end_headers()
        if path == "/basic":
            return self.say(b"<title>Basic</title>Hello ann", "text/html")
        if path == "/sent":
            return self.say(b"<title>Sent</title><p>" + query.encode(), "text/html")
        if path == "/worker.js":
            return self.say(b"onfetch=e=>e.respondWith(new Promise(()=>{}))", "text/javascript")
        if path.startswith("/unkind/"):
            return self.say(b"<title>Unkind</title>" + UNKIND[path[8:]].encode(), "text/html")
        body = PAGES.get(path)
        if body is None: return self.say(b"<title>None</title>", "text/html", status=404)
        self.say(body.encode(), "text/html")
    def go(self, where):
        self.send_response(302); self.send_header("Location", where); self.end_headers()
    def say(self, data, kind, name="", status=200):
        self.send_response(status); self.send_header("Content-Type", kind)
        if name: self.send_header("Content-Disposition", "attachment; filename=" + name)
        self.send_header("Content-Length", str(len(data))); self.end_headers(); self.wfile.write(data)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Site)
print("ready", flush=True)
server.serve_forever()
'''
)


@dataclass
class Stage:
    """A box with the site, and a browser in it."""

    box: Box
    browser: Browser

    async def do(self, action: str, **given: object) -> BrowserObservation:
        return await self.browser.act(action, given)

    async def on(self, wanted: str, action: str, **given: object) -> BrowserObservation:
        """An action on the element whose line begins so."""
        seen = await self.do("noop", wait_ms=0)
        lines = (line.strip().partition("] ") for line in seen.text.splitlines())
        bid = next(one[1:] for one, closed, rest in lines if closed and rest.startswith(wanted))
        return await self.do(action, bid=bid, **given)


@asynccontextmanager
async def staged(config: BrowserConfig = USUAL, limits: BoxLimits = LIMITS) -> AsyncIterator[Stage]:
    async with open_box(BoxConfig(limits=limits)) as box:
        process = await box.start(["python3", "-c", PROGRAM])
        assert await process.stdout.read() == b"ready\n"
        browser = Browser(box, config, "bubblewrap", BrowserLedger("test"))
        try:
            yield Stage(box, browser)
        finally:
            await browser.close()
