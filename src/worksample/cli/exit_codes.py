"""Exit codes of the command line.

0: done. 1: an explained failure. 2: a wrong command. 3: the command ran, but planned work is unfinished or ungraded, or
the store is not sound. 130: interrupted.
"""

FAILED, USAGE, INCOMPLETE, INTERRUPTED = 1, 2, 3, 130
