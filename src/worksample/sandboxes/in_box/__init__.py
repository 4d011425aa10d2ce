"""The exec server: what runs as process 1 in a box and starts its commands.

These modules are copied into the box and run there by a bare interpreter: they import the standard library and each
other only, and little of that, because their import time is the box's start-up time.
"""
