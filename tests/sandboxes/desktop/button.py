"""A window of the agent's own, by the C library alone: a click in it writes a deliverable."""

import ctypes
import pathlib

x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
display = ctypes.c_void_p(x.XOpenDisplay(None))
root = ctypes.c_ulong(x.XDefaultRootWindow(display))
window = ctypes.c_ulong(x.XCreateSimpleWindow(display, root, 0, 0, 600, 400, 0, 0, 0x80C040))
x.XStoreName(display, window, b"A button")
x.XSelectInput(display, window, ctypes.c_long(4 | 32768))  # button presses, exposure
x.XMapWindow(display, window)
event = (ctypes.c_long * 24)()
pathlib.Path("/task/scratch/ready").touch()
while True:
    x.XNextEvent(display, event)
    if event[0] & 0xFFFFFFFF == 4:
        pathlib.Path("/task/output/hello.txt").write_text("pressed")
