"""Configuration files of the services. They are stored outside the services' state, because they contain passwords and
are not evidence.
"""

from __future__ import annotations

import os
from pathlib import Path

from .ports import BEHIND, DIALECTS, RUN

HERE = Path(__file__).parent


def write_configs(
    state: Path, names: tuple[str, ...], accounts: dict[str, str], dialects: tuple[str, ...] = ()
) -> None:
    """Write all configuration files of these services, with the passwords of these accounts."""
    everybody = {**accounts, "operator": os.environ.get("WORKPLACE_OPERATOR") or os.urandom(32).hex()}
    (RUN / "accounts").write_text(
        "".join(f"{who}:{{PLAIN}}{password}\n" for who, password in everybody.items()), encoding="utf-8"
    )
    (RUN / "accounts.plain").write_text(
        "".join(f"{who}:{password}\n" for who, password in everybody.items()), encoding="utf-8"
    )
    (RUN / "rights").write_text(
        "[operator]\nuser: operator\ncollection: .*\npermissions: RrWw\n"
        "[own]\nuser: .+\ncollection: {user}(/.*)?\npermissions: RrWw\n"
        "[others]\nuser: .+\ncollection: .*\npermissions: Rr\n",
        encoding="utf-8",
    )
    (RUN / "radicale").write_text(
        f"[server]\nhosts = 127.0.0.1:{BEHIND['calendar']}\n"
        f"[auth]\ntype = htpasswd\nhtpasswd_filename = {RUN}/accounts.plain\nhtpasswd_encryption = plain\ndelay = 0\n"
        f"[rights]\ntype = from_file\nfile = {RUN}/rights\n"
        f"[storage]\nfilesystem_folder = {state}/calendar\nfilesystem_cache_folder = {RUN}/calendar\n"
        "use_cache_subfolder_for_item = True\nuse_cache_subfolder_for_history = True\n"
        "use_cache_subfolder_for_synctoken = True\n[logging]\nlevel = warning\n[web]\ntype = internal\n",
        encoding="utf-8",
    )
    servers = "".join(server_block(name, dialects) for name in names)
    text = (HERE / "nginx" / "front.conf").read_text(encoding="utf-8").replace("@SERVERS@", servers)
    for word, value in {"@STATE@": str(state), "@RUN@": str(RUN)}.items():
        text = text.replace(word, value)
    (RUN / "nginx.conf").write_text(text, encoding="utf-8")


def server_block(name: str, dialects: tuple[str, ...]) -> str:
    """Return the part of the front door's configuration that is for one service and its dialects."""
    spoken = [(HERE / "nginx" / f"{one}.conf").read_text(encoding="utf-8") for one in dialects if DIALECTS[one] == name]
    own = (HERE / "nginx" / f"{name}.conf").read_text(encoding="utf-8").replace("@DIALECT@", "".join(spoken))
    return own.replace("server {\n", f"server {{\n{clock_block()}", 1)


def clock_block() -> str:
    """Return the address of the script that gives a page's own programs the company's time. Every service has it."""
    script = " ".join((HERE / "nginx" / "company-clock.js").read_text(encoding="utf-8").split())
    return (
        "    location = /company-clock.js {\n      auth_basic off;\n      default_type text/javascript;\n"
        f'      add_header Cache-Control no-store;\n      return 200 "{script}";\n    }}\n'
    )
