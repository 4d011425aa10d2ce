"""The page that we put around a file's markup: our own styles, light and dark, and nothing that names us."""

from __future__ import annotations

from html import escape

THEMES = ("", "light", "dark")
STYLE = """
:root{color-scheme:light dark;--text:#1d2330;--back:#fff;--faint:#5c6475;--line:#d5d9e2;--wash:#f3f5f9;--link:#1a56b8}
@media (prefers-color-scheme:dark){:root{--text:#e3e6ed;--back:#15181e;--faint:#9aa3b5;--line:#363c49;--wash:#1f242d;
--link:#86b4ff}}
:root[data-theme=light]{color-scheme:light;--text:#1d2330;--back:#fff;--faint:#5c6475;--line:#d5d9e2;--wash:#f3f5f9;
--link:#1a56b8}
:root[data-theme=dark]{color-scheme:dark;--text:#e3e6ed;--back:#15181e;--faint:#9aa3b5;--line:#363c49;--wash:#1f242d;
--link:#86b4ff}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.6 system-ui,"Liberation Sans",sans-serif}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1.25rem 3rem;overflow-wrap:break-word}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:1.6em 0 .5em}
h1:first-child,h2:first-child{margin-top:0}
a{color:var(--link)}
a[data-outside]{color:inherit;text-decoration:underline dotted}
a[data-outside]::after{content:" (" attr(data-outside) ")";color:var(--faint);font-size:.85em}
img,video,svg{max-width:100%;height:auto}
pre,code{font-family:ui-monospace,"Liberation Mono",monospace;font-size:.9em}
pre{background:var(--wash);padding:.8rem 1rem;overflow:auto;border-radius:4px}
:not(pre)>code{background:var(--wash);padding:.1em .3em;border-radius:3px}
blockquote{margin:1em 0;padding:.1em 1em;border-left:3px solid var(--line);color:var(--faint)}
table{border-collapse:collapse;display:block;overflow:auto;max-width:100%}
th,td{border:1px solid var(--line);padding:.35em .7em;text-align:left}
th{background:var(--wash)}
hr{border:0;border-top:1px solid var(--line)}
math[display=block]{overflow:auto}
body.output main{max-width:none;padding:.5rem}
section.face{border:1px solid var(--line);border-radius:6px;padding:1rem;margin:0 0 1rem}
section.face>h2{font-size:.8rem;font-weight:600;color:var(--faint);margin:0 0 .6rem}
"""
_SIZE = (
    "<script>(function(){function tell(){parent.postMessage({ws:1,type:'size',"
    "height:Math.ceil(document.documentElement.getBoundingClientRect().height)},'*')}"
    "new ResizeObserver(tell).observe(document.documentElement);addEventListener('load',tell)})()</script>"
)
"""Tells the frame around it how high it is. The page in it may say the same wrongly: whoever listens sets a limit."""


def shell(body: str, *, kind: str, theme: str = "", tells_size: bool = False) -> bytes:
    """A whole page. `body` is markup and put in as it is: the policy that goes with it keeps it still."""
    mode = f' data-theme="{escape(theme)}"' if theme else ""
    return (
        f'<!doctype html><html lang="en"{mode}><head><meta charset="utf-8"><title>Preview</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<style>{STYLE}</style></head><body class="{escape(kind)}"><main>{body}</main>'
        f"{_SIZE if tells_size else ''}</body></html>"
    ).encode("utf-8", "replace")
