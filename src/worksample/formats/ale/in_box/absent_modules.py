"""Stand-ins for libraries that are not installed, so that a package can be listed without them.

They only let `main.py` be imported: nothing that they return is a result. Graders never use them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_OWN = ("tasks", "cua_bench")
"""Top-level packages that must be real."""


class _AbsentType(type):
    """Metaclass of everything that an absent module holds: it can be named, called, indexed and subclassed."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentType(name, (_Absent,), {})

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__


class _Absent(Exception, metaclass=_AbsentType):
    def __init__(self, *given: object, **named: object) -> None:
        super().__init__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentType(name, (_Absent,), {})

    def __call__(self, *given: Any, **named: Any) -> Any:
        return given[0] if len(given) == 1 and callable(given[0]) else self

    def __getitem__(self, key: object) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class _AbsentModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentType(name, (_Absent,), {})


class AbsentModules(MetaPathFinder, Loader):
    """A finder that comes last and finds every library that files below `folder` import and nothing else found.

    `names`: the libraries it was asked for. Imports by the standard library stay as they are.
    """

    def __init__(self, folder: str) -> None:
        self.names: set[str] = set()
        self.folder = folder.rstrip("/") + "/"

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = fullname.partition(".")[0]
        if top in _OWN or top in sys.stdlib_module_names or not (top in self.names or self._is_asked_by_package()):
            return None
        self.names.add(top)
        return ModuleSpec(fullname, self, is_package=True)

    def _is_asked_by_package(self) -> bool:
        """Return whether the code that imports lies below the folder."""
        frame = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if name != __file__ and not name.startswith("<frozen importlib"):
                return name.startswith(self.folder)
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _AbsentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass
