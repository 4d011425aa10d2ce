"""Writes its own result, which is no grade, and leaves."""

import os
from pathlib import Path


def grade(case):
    Path("/task/result/result.json").write_text('{"grade": {"score": NaN}}')
    os._exit(0)
