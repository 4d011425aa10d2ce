"""No circle of imports, not even one that hides in functions."""

from __future__ import annotations

from pathlib import Path

import worksample
from repo.import_circles import circles, import_graph

SOURCES = Path(worksample.__file__).parent


def test_no_modules_import_each_other() -> None:
    graph = import_graph(SOURCES, without=("suites",))
    assert len(graph) > 500 and "worksample.store.store" in graph["worksample.experiments.experiment_runner"]
    assert circles(graph) == []


def test_a_circle_in_functions_is_found(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__init__.pyi").write_text("from .second import name as name\n")
    (package / "first.py").write_text("def function():\n    from . import name\n")
    (package / "second.py").write_text("from .third import name\n")
    (package / "third.py").write_text("if True:\n    from package import first\n")
    (package / "fourth.py").write_text("TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import package.fifth\n")
    (package / "fifth.py").write_text("import package.fourth\n")
    assert circles(import_graph(package)) == [{"package.first", "package.second", "package.third"}]
