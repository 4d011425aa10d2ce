"""Print the API's schema: `python -m worksample.app.openapi`. The front end's typed client is made from it."""

from __future__ import annotations

import json
import sys


def main() -> None:
    from .server.api import make_api

    sys.stdout.write(json.dumps(make_api().openapi(), indent=1, sort_keys=True, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
