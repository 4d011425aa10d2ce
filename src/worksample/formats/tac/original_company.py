"""Contents of the company's services in a copy of TheAgentCompany's repository, and a list of the contents it lacks.

GitLab's repositories, Plane's projects and ownCloud's documents are in images. The copy contains only the pages of
GitLab's wiki. The others can be given as folders; else the task's notes list them as missing.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from worksample.errors import ImportFailed

WIKIS, WIKI_PROJECT = Path("servers/gitlab/wikis"), "doc"
"""The folder with the pages of the company's wiki in a copy, and the GitLab project to which they belong."""
NEXT_COMMAND = "correct the file, then worksample import tac --original COPY --overwrite OUT"
_TOKENS = ("GITLAB_ACCESS_TOKEN", "PLANE_API_KEY")
_PROJECT = re.compile(
    r"(?:root|\{GITLAB_USER\})/([A-Za-z][A-Za-z0-9_.-]*)|^PROJECT_NAME\s*=\s*[\"'](\w[\w.-]*)", re.MULTILINE
)
_DOCUMENT = re.compile(r"Documents?/\w|owncloud|ownCloud|OwnCloud|8092")


def agent_keys(config: Path) -> dict[str, object]:
    """Return the right to administer, and tokens and other names of the agent's account from the evaluators'
    `config.py`. Raises ImportFailed.
    """
    try:
        tree = ast.parse(config.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError) as fault:
        raise ImportFailed(f"cannot be read: {fault}", where=str(config), next=NEXT_COMMAND) from fault
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            # NAME = os.environ.get(...) or "default"
            value = node.value.values[-1] if isinstance(node.value, ast.BoolOp) else node.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found[node.targets[0].id] = value.value
    keys = {
        "tokens": [found[name] for name in _TOKENS if name in found],
        "also": [found["GITLAB_USER"]] if "GITLAB_USER" in found else [],
    }
    return {"admin": True, **{name: words for name, words in keys.items() if words}}


def write_wiki(copy: Path, root: Path) -> None:
    """Write the GitLab project with the company's wiki into a company's folder, if the copy has pages of the wiki."""
    pages = sorted((copy / WIKIS).glob("*.md"))
    if not pages or (root / "projects" / f"{WIKI_PROJECT}.toml").exists():
        return
    for folder in ("projects", "repositories", f"repositories/{WIKI_PROJECT}/first", f"wiki/{WIKI_PROJECT}"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "projects" / f"{WIKI_PROJECT}.toml").write_text(
        'title = "Documentation"\nabout = "Wiki for company-wide doc"\n', encoding="utf-8"
    )
    first = '[[commit]]\nat = 2024-10-01T09:00:00\nby = "theagentcompany"\nmessage = "Add README"\nfiles = "first"\n'
    (root / "repositories" / f"{WIKI_PROJECT}.toml").write_text(first, encoding="utf-8")
    (root / "repositories" / WIKI_PROJECT / "first" / "README.md").write_text(
        "All documentation is in the wiki.\n", encoding="utf-8"
    )
    for page in pages:
        shutil.copyfile(page, root / "wiki" / WIKI_PROJECT / page.name)


def named_projects(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the GitLab projects that a task's texts name."""
    found = (a or b for text in texts for a, b in _PROJECT.findall(text))
    return tuple(sorted({name.lower().rstrip(".").removesuffix(".git") for name in found}))


def missing_contents(
    services: Sequence[str], texts: Sequence[str], documents: Path | None, more: Path | None
) -> tuple[str, ...]:
    """Return the contents of services that a task's texts name and neither the copy nor the given folders provide."""
    found = []
    if "gitlab" in services:
        given = {
            WIKI_PROJECT,
            *(path.stem for path in ((more or Path("/nonexistent")) / "repositories").glob("*.toml")),
        }
        absent = [name for name in named_projects(texts) if name not in given]
        found += [f"GitLab's project {name}" for name in absent]
        if not absent and not named_projects(texts) and more is None:
            found.append("GitLab's projects")
    if "plane" in services and more is None:
        found.append("Plane's projects")
    if "owncloud" in services and documents is None and any(_DOCUMENT.search(text) for text in texts):
        found.append("ownCloud's documents")
    return tuple(found)


def notes_text(task: str, lacks: Mapping[str, Sequence[str]]) -> str:
    """Return a package's `notes.md`, with all requirements of the task that Worksample lacks."""
    lines = [f"{what}: {', '.join(names)}" for what, names in lacks.items() if names]
    origin = f"`{task}` of TheAgentCompany, from a copy of its repository."
    if not lines:
        return f"{origin} No service, contents or program is known to be missing.\n"
    items = "\n".join(f"- {line}" for line in lines)
    return f"{origin} The import lacks:\n\n{items}\n"
