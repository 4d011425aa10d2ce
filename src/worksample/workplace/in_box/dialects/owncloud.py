"""The dialect of ownCloud, over the documents service: WebDAV at both of ownCloud's addresses, public links (OCS), and
addresses of web pages.

These features are not supported: shares with individuals (everybody has all documents), passwords and expiry of links,
versions, tags, trash, folders as archives, chunked uploads.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import posixpath
import secrets
import threading
import urllib.parse
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .backend import FILES, basic, read_pieces
from .http_messages import DialectRefused, DialectRequest, DialectResponse, bounded_number, json_response, not_served

DAV, OC = "DAV:", "http://owncloud.org/ns"
PLAIN, BY_USER = "/remote.php/webdav", "/remote.php/dav/files/"
SHARES = "apps/files_sharing/api/v1/shares"
LINK = 3
"""Number of the share type "public link" in ownCloud's OCS API."""
MOST_SHARES = 10_000
VERSION = "10.0.0.0"
KEPT = ("content-type", "content-length", "last-modified", "etag", "accept-ranges", "content-range")
PASSED = ("depth", "overwrite", "range", "if-match", "if-none-match", "if-modified-since", "content-type", "x-oc-mtime")
VERBS = frozenset(("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND", "PROPPATCH", "MKCOL", "MOVE", "COPY"))


class OwnCloud:
    """The dialect of ownCloud. `accounts` contains the passwords by person, as the service has them. `folder` is where
    the public links are stored.
    """

    def __init__(self, accounts: Mapping[str, str], folder: Path) -> None:
        self._accounts, self._place = dict(accounts), folder / "links.json"
        self._lock = threading.Lock()

    def answer(self, request: DialectRequest) -> DialectResponse:
        """Return the response to a request."""
        path = request.path
        if path == "/status.php":
            said = {"installed": True, "maintenance": False, "version": VERSION, "productname": "ownCloud"}
            return json_response(said)
        if path.startswith(("/index.php/s/", "/s/")):
            return self._link(request)
        if path.startswith("/index.php"):
            return _redirect_page(request)
        who = self._authenticate(request)
        if path == PLAIN or path.startswith(PLAIN + "/"):
            return self._dav(request, who, PLAIN)
        if path.startswith(BY_USER):
            own = BY_USER + path.removeprefix(BY_USER).split("/", 1)[0]
            if urllib.parse.unquote(own.removeprefix(BY_USER)) != who:
                raise DialectRefused(404, f"only the files of {who} are served here")
            return self._dav(request, who, own)
        if path.startswith(("/ocs/v1.php/", "/ocs/v2.php/")):
            return self._ocs(request, who, path.split("/", 3)[3])
        raise not_served(f"ownCloud's {path}")

    def _authenticate(self, request: DialectRequest) -> str:
        account, password = request.basic or ("", "")
        known = self._accounts.get(account, "")
        if not known or not hmac.compare_digest(known.encode(), password.encode()):
            raise _Unauthorized
        return account

    def _auth(self, who: str) -> str:
        return basic(who, self._accounts[who])

    # WebDAV

    def _dav(self, request: DialectRequest, who: str, root: str) -> DialectResponse:
        if request.method not in VERBS:
            raise not_served(f"ownCloud's verb {request.method}")
        path = request.path.removeprefix(root) or "/"
        headers = {name: request.headers[name] for name in PASSED if name in request.headers}
        if request.method in ("MOVE", "COPY"):
            headers["Destination"] = self._destination(request, who)
        if request.method in ("GET", "HEAD") and self._is_folder(path, who):
            raise DialectRefused(405, "this is a folder: list it by PROPFIND")
        if request.method in ("PUT", "MKCOL") and not self._is_folder(posixpath.dirname(path.rstrip("/")) or "/", who):
            raise DialectRefused(409, "the folder above it is missing")
        answer = FILES.ask(request.method, path, self._auth(who), request.body or None, headers)
        kept = {name.title(): value for name, value in answer.getheaders() if name.lower() in KEPT}
        if request.method == "PROPFIND" and answer.status == 207:
            with answer:
                said = _rebase_addresses(answer.read(), root)
            return DialectResponse(207, said, {"Content-Type": "application/xml; charset=utf-8"}, who)
        if request.method in ("GET", "HEAD") and answer.status < 300:
            return DialectResponse(answer.status, read_pieces(answer) if request.method == "GET" else b"", kept, who)
        with answer:
            said = answer.read()
        if answer.status >= 400:
            raise DialectRefused(answer.status, _one_line(said))
        if request.method == "PUT":
            return DialectResponse(answer.status, b"", {"ETag": _etag(path)}, who)
        kept.pop("Content-Length", None)
        return DialectResponse(answer.status, said, kept, who)

    def _destination(self, request: DialectRequest, who: str) -> str:
        path = urllib.parse.urlsplit(request.headers.get("destination", "")).path
        for root in (PLAIN, BY_USER + urllib.parse.quote(who)):
            if path.startswith(root + "/"):
                return f"http://{FILES.host}{path.removeprefix(root)}"
        raise DialectRefused(400, "the destination is not among your files")

    def _is_folder(self, path: str, who: str) -> bool:
        with FILES.ask("PROPFIND", path, self._auth(who), None, {"Depth": "0"}) as answer:
            said = answer.read()
        return answer.status == 207 and ET.fromstring(said).find(f".//{{{DAV}}}collection") is not None

    def _exists(self, path: str, who: str) -> bool:
        with FILES.ask("PROPFIND", urllib.parse.quote(path), self._auth(who), None, {"Depth": "0"}) as answer:
            answer.read()
        return answer.status == 207

    # Links

    def _ocs(self, request: DialectRequest, who: str, rest: str) -> DialectResponse:
        rest = rest.rstrip("/")
        if rest == "cloud/user":
            return _ocs_response(request, {"id": who, "display-name": who}, who)
        if rest == "cloud/capabilities":
            able = {"files_sharing": {"api_enabled": 1, "public": {"enabled": 1}}}
            numbers = dict(zip(("major", "minor", "micro"), map(int, VERSION.split(".")), strict=False))
            return _ocs_response(request, {"version": {**numbers, "string": VERSION}, "capabilities": able}, who)
        if rest == SHARES and request.method == "POST":
            return _ocs_response(request, self._share(request, who), who)
        if rest == SHARES and request.method == "GET":
            path = request.query.get("path")
            mine = [one for one in self._links() if one["owner"] == who and path in (None, one["path"])]
            return _ocs_response(request, [_share_json(one, request) for one in mine], who)
        if rest.startswith(SHARES + "/") and request.method in ("GET", "DELETE"):
            return self._one_share(request, who, rest.removeprefix(SHARES + "/"))
        raise not_served(f"ownCloud's OCS {request.method} {rest}")

    def _share(self, request: DialectRequest, who: str) -> dict[str, Any]:
        given = request.values()
        if bounded_number(given.get("shareType"), -1, 99) != LINK:
            raise not_served("shares with single people and groups: everybody has all documents")
        if lacks := [name for name in ("password", "expireDate") if given.get(name)]:
            raise not_served(f"a link with {' and '.join(lacks)}")
        path = posixpath.normpath("/" + str(given.get("path", "")).strip("/"))
        if not self._exists(path, who):
            raise DialectRefused(404, "the file does not exist")
        with self._lock:
            links = self._links()
            if len(links) >= MOST_SHARES:
                raise DialectRefused(403, "there are too many links")
            same = [one for one in links if (one["path"], one["owner"]) == (path, who)]
            if same:
                return _share_json(same[0], request)
            number_of = max((one["id"] for one in links), default=0) + 1
            made = {"id": number_of, "token": secrets.token_urlsafe(12), "path": path, "owner": who}
            self._write_links([*links, made])
        return _share_json(made, request)

    def _one_share(self, request: DialectRequest, who: str, name: str) -> DialectResponse:
        with self._lock:
            links = self._links()
            mine = [one for one in links if str(one["id"]) == name and one["owner"] == who]
            if not mine:
                raise DialectRefused(404, "you have no such share")
            if request.method == "DELETE":
                self._write_links([one for one in links if one not in mine])
        return _ocs_response(request, [] if request.method == "DELETE" else [_share_json(mine[0], request)], who)

    def _links(self) -> list[dict[str, Any]]:
        try:
            found = json.loads(self._place.read_bytes())
        except (OSError, ValueError):
            return []
        return [one for one in found if isinstance(one, dict) and {"id", "token", "path", "owner"} <= one.keys()]

    def _write_links(self, links: list[dict[str, Any]]) -> None:
        self._place.parent.mkdir(exist_ok=True)
        fresh = self._place.with_suffix(".new")
        fresh.write_text(json.dumps(links), encoding="utf-8")
        fresh.replace(self._place)

    def _link(self, request: DialectRequest) -> DialectResponse:
        """Return the page of a public link, or its file. The file is read with the rights of the link's creator or of
        the operator.
        """
        words = request.path.removeprefix("/index.php").removeprefix("/s/").rstrip("/").split("/")
        found = [one for one in self._links() if hmac.compare_digest(one["token"], urllib.parse.unquote(words[0]))]
        if not found or words[1:] not in ([], ["download"]):
            raise DialectRefused(404, "the link does not exist")
        path, by = urllib.parse.quote(found[0]["path"]), found[0]["owner"]
        who = self._auth(by if by in self._accounts else "operator")
        if words[1:] == ["download"]:
            if self._is_folder(path, by if by in self._accounts else "operator"):
                raise not_served("a folder as an archive")
            answer = FILES.ask("GET", path, who)
            if answer.status != 200:
                with answer:
                    answer.read()
                raise DialectRefused(404, "the file behind this link is gone")
            kept = {name.title(): value for name, value in answer.getheaders() if name.lower() in KEPT}
            name = urllib.parse.quote(posixpath.basename(found[0]["path"]))
            return DialectResponse(
                200, read_pieces(answer), {**kept, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
            )
        name = html.escape(posixpath.basename(found[0]["path"]))
        address = html.escape(f"{request.origin}/index.php/s/{urllib.parse.quote(found[0]['token'])}/download")
        page = f'<!doctype html><title>{name}</title><h1>{name}</h1><a href="{address}">Download {name}</a>\n'
        return DialectResponse(200, page.encode(), {"Content-Type": "text/html; charset=utf-8"})


class _Unauthorized(DialectRefused):
    def __init__(self) -> None:
        super().__init__(
            401, "authentication is required: use basic authentication", {"WWW-Authenticate": 'Basic realm="files"'}
        )


def _redirect_page(request: DialectRequest) -> DialectResponse:
    """Redirect the address of a web page of ownCloud to an existing page."""
    path = request.path.removeprefix("/index.php").rstrip("/")
    if path.startswith("/apps/files"):
        folder = posixpath.normpath("/" + request.query.get("dir", "").strip("/"))
        return DialectResponse(302, b"", {"Location": urllib.parse.quote(folder if folder == "/" else f"{folder}/")})
    if path in ("", "/login"):
        return DialectResponse(302, b"", {"Location": "/"})
    raise not_served(f"ownCloud's page {path}")


def _rebase_addresses(said: bytes, root: str) -> bytes:
    """Return a WebDAV listing in which all addresses begin with `root`."""
    ET.register_namespace("d", DAV)
    ET.register_namespace("oc", OC)
    tree = ET.fromstring(said)
    for one in tree.iter(f"{{{DAV}}}response"):
        href = one.find(f"{{{DAV}}}href")
        if href is None:
            continue
        path = urllib.parse.urlsplit(href.text or "/").path
        if one.find(f".//{{{DAV}}}collection") is not None and not path.endswith("/"):
            path += "/"
        href.text = root + path
        for prop in one.iter(f"{{{DAV}}}prop"):
            ET.SubElement(prop, f"{{{OC}}}fileid").text = str(int(hashlib.sha256(path.encode()).hexdigest()[:12], 16))
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(tree)


def _etag(path: str) -> str:
    return '"' + hashlib.sha256(f"{path}\0{secrets.token_hex(8)}".encode()).hexdigest()[:32] + '"'


def _one_line(said: bytes) -> str:
    return " ".join(said.decode("utf-8", "replace").split())[:300]


def _share_json(one: dict[str, Any], request: DialectRequest) -> dict[str, Any]:
    return {
        "id": one["id"], "share_type": LINK, "uid_owner": one["owner"], "displayname_owner": one["owner"],
        "permissions": 1, "path": one["path"], "file_target": one["path"], "item_type": "file", "token": one["token"],
        "url": f"{request.origin}/index.php/s/{one['token']}", "name": posixpath.basename(one["path"]),
    }  # fmt: skip


def _ocs_response(request: DialectRequest, data: Any, by: str) -> DialectResponse:
    code = 100 if request.path.startswith("/ocs/v1.php") else 200
    meta = {"status": "ok", "statuscode": code, "message": "OK"}
    if request.query.get("format") == "json":
        return json_response({"ocs": {"meta": meta, "data": data}}, by=by)
    tree = ET.Element("ocs")
    _append_xml(ET.SubElement(tree, "meta"), meta)
    _append_xml(ET.SubElement(tree, "data"), data)
    said = b'<?xml version="1.0"?>\n' + ET.tostring(tree)
    return DialectResponse(200, said, {"Content-Type": "text/xml; charset=utf-8"}, by)


def _append_xml(parent: ET.Element, value: Any) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _append_xml(ET.SubElement(parent, name), inner)
    elif isinstance(value, list):
        for inner in value:
            _append_xml(ET.SubElement(parent, "element"), inner)
    else:
        parent.text = str(value)
