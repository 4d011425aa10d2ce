"""A service for tests: notes over HTTP, kept in files. It can be told to end, to eat memory, to hang."""

import http.server
import os
import pathlib
import socketserver
import sys

STATE, FILES = map(pathlib.Path, sys.argv[2:4])


class Desk(http.server.BaseHTTPRequestHandler):
    def answer(self, text: str, status: int = 200) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path == "/end":
            os._exit(3)
        if self.path == "/eat":
            kept = []
            while True:
                kept.append(b"x" * (1 << 24))
        if self.path == "/given":
            return self.answer((FILES / "word.txt").read_text())
        note = STATE / self.path.lstrip("/")
        return self.answer(note.read_text()) if note.is_file() else self.answer("none", 404)

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        (STATE / self.path.lstrip("/")).write_bytes(data)
        self.answer("kept")


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


if len(sys.argv) > 4:
    sys.exit(sys.argv[4])
print("open for business", flush=True)
Server(("127.0.0.1", int(sys.argv[1])), Desk).serve_forever()
