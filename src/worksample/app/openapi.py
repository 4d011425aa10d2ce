"""Print the OpenAPI schema of the API: `python -m worksample.app.openapi`. The web build makes its typed client from
it.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    from .server.api import make_api

    sys.stdout.write(json.dumps(make_api().openapi(), indent=1, sort_keys=True, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
