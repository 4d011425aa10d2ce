"""`python -m worksample` is the `worksample` command."""

from worksample.cli import main

main()
