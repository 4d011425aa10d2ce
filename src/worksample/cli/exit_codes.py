"""Exit codes of the command line.

0: the command succeeded. 1: the command failed, and the message says why. 2: the command was wrong. 3: the command ran,
but planned work is unfinished or ungraded, or the store has faults. 130: the command was interrupted.
"""

FAILED, USAGE, INCOMPLETE, INTERRUPTED = 1, 2, 3, 130
