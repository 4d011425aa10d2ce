# ruff: noqa: E501 - a line is a page
"""Pages that get in the way of whoever uses them, each with what an agent must still be able to do on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UnkindPage:
    """A page. `press` is the element that is clicked, if any; `seen` is in what is shown then or soon after."""

    body: str
    seen: str
    press: str = ""


PAGES = {
    "beforeunload": UnkindPage(
        "<script>onbeforeunload=e=>{e.preventDefault();return 'stay'}</script><input aria-label=Text>", "textbox 'Text'", "textbox 'Text'"
    ),
    "beforeunload-loop": UnkindPage(
        "<button onclick=\"onbeforeunload=e=>{e.preventDefault();return 'stay'};setInterval(()=>location='/none?'+Math.random(),50)\">"
        "Go</button>", "- http", "button 'Go'",
    ),
    "print": UnkindPage("<button onclick=\"print();document.title='Printed'\">Print</button>", "Printed", "button 'Print'"),
    "print-loop": UnkindPage("<button>Here</button><script>setInterval(print,20)</script>", "button 'Here'", "button 'Here'"),
    "location": UnkindPage(
        "<button onclick=\"navigator.geolocation.getCurrentPosition(()=>document.title='Found',()=>document.title='Denied')\">"
        "Where</button>", "Denied", "button 'Where'",
    ),
    "notification": UnkindPage(
        "<button onclick=\"Notification.requestPermission().then(one=>document.title='Asked '+one)\">Tell</button>",
        "Asked denied", "button 'Tell'",
    ),
    "camera": UnkindPage(
        "<button onclick=\"navigator.mediaDevices.getUserMedia({video:true,audio:true}).then(()=>document.title='Filming',"
        "()=>document.title='No camera')\">Film</button>", "No camera", "button 'Film'",
    ),
    "fake-select": UnkindPage(
        "<div role=combobox tabindex=0 aria-label=Size aria-expanded=false onclick=\"list.hidden=!list.hidden\">small</div>"
        "<ul id=list role=listbox hidden><li role=option onclick=\"document.title='large'\">large</li></ul>",
        "option 'large'", "combobox 'Size'",
    ),
    "shadow": UnkindPage(
        "<div id=h></div><script>let at=h;for(let i=0;i<8;i++){const s=at.attachShadow({mode:'open'});"
        "at=document.createElement('div');s.append(at)}const b=document.createElement('button');b.textContent='Deep';"
        "b.onclick=()=>document.title='Shadow pressed';at.append(b)</script>", "Shadow pressed", "button 'Deep'",
    ),
    "closed-shadow": UnkindPage(
        "<button>Open</button><div id=h></div><script>h.attachShadow({mode:'closed'}).innerHTML='<button>Hidden</button>'"
        "</script>", "button 'Open'",
    ),
    "other-origin": UnkindPage(
        "<button>Outer</button><iframe title=other src='http://localhost:8000/form'></iframe>", "button 'Outer'"
    ),
    "history": UnkindPage(
        "<button>Here</button><script>setInterval(()=>history.pushState(0,'','/unkind/history?'+Math.random()),5);"
        "onpopstate=()=>history.forward()</script>", "button 'Here'",
    ),
    "worker": UnkindPage(
        "<button onclick=\"navigator.serviceWorker.register('/worker.js').then(()=>navigator.serviceWorker.ready)"
        ".then(()=>document.title='Worker on')\">Install</button>", "Worker on", "button 'Install'",
    ),
    "chooser": UnkindPage(
        "<input id=f type=file hidden><button onclick=\"for(let i=0;i<5;i++)f.click()\">Choose</button>",
        "a page asks for a file", "button 'Choose'",
    ),
    "drag": UnkindPage(
        "<div draggable=true role=button aria-label=Card ondragstart=\"event.dataTransfer.setData('text','x')\">Card</div>"
        "<div role=button aria-label=Bin style='width:200px;height:100px' ondragover=\"event.preventDefault()\" "
        "ondrop=\"document.title='Dropped'\">Bin</div>", "button 'Card'",
    ),
    "canvas": UnkindPage(
        "<canvas id=c width=400 height=300 onclick=\"document.title='at '+event.offsetX+','+event.offsetY\"></canvas>"
        "<style>body{margin:0}</style>", "Unkind",
    ),
    "trap": UnkindPage(
        "<input aria-label=Trap autofocus onblur=\"this.focus()\" onkeydown=\"event.preventDefault()\"><button "
        "onclick=\"document.title='Out'\">Out</button>", "Out", "button 'Out'",
    ),
    "refresh": UnkindPage("<meta http-equiv=refresh content=0><button>Here</button>", "- http"),
    "pointer": UnkindPage(
        "<button onclick=\"this.requestPointerLock();document.documentElement.requestFullscreen()\">Lock</button>",
        "Lock", "button 'Lock'",
    ),
    "overlay": UnkindPage(
        "<button onclick=\"document.title='Pressed'\">Under</button><div style='position:fixed;inset:0;z-index:9'></div>",
        "Under",
    ),
    "storage": UnkindPage(
        "<button>Here</button><script>try{for(let i=0;;i++)localStorage['k'+i]='x'.repeat(1e5)}catch{}</script>",
        "button 'Here'",
    ),
    "title": UnkindPage("<button>Here</button><script>setInterval(()=>document.title='x'.repeat(1e6),20)</script>", "button 'Here'"),
    "console": UnkindPage("<button>Here</button><script>setInterval(()=>{for(let i=0;i<200;i++)console.log('y'.repeat(999))},10)</script>", "button 'Here'"),
}  # fmt: skip
