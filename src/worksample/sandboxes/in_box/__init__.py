"""The exec server: runs as process 1 in a box and starts its commands.

These modules are copied into the box and run there by a bare interpreter. They import only each other and a little of
the standard library, because their import time adds to the box's start-up time.
"""
