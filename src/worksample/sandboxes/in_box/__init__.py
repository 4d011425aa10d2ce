"""The exec server: runs as process 1 in a box and starts the box's commands.

These modules are copied into the box, where a Python interpreter runs them. They import only each other and few modules
of the standard library, because the time of the imports adds to the start-up time of the box.
"""
