"""Python sources as trees, without a fault of CPython's.

While it builds a tree, CPython below 3.11.9 counts depth in one place for all threads: a collection of garbage in the
middle that runs other code leads to "AST constructor recursion depth mismatch" (python/cpython#106905).
"""

from __future__ import annotations

import ast
import gc


def parsed(source: str) -> ast.Module:
    """`ast.parse`, with no collection in the middle."""
    was = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if was:
            gc.enable()
