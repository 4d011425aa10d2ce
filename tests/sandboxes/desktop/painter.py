"""A small program for tests, in the agent's box: a window that prints every click and key, and changes its colour."""

import sys

from Xlib import X, Xutil, display

WIDTH, HEIGHT = 400, 300
screen = display.Display()
root = screen.screen().root
window = root.create_window(
    50, 60, WIDTH, HEIGHT, 0, X.CopyFromParent, background_pixel=0x2040A0,
    event_mask=X.ButtonPressMask | X.ButtonReleaseMask | X.KeyPressMask | X.ExposureMask | X.StructureNotifyMask,
)  # fmt: skip
window.set_wm_name(sys.argv[1] if len(sys.argv) > 1 else "painter")
window.set_wm_class("painter", "Painter")
window.set_wm_normal_hints(flags=Xutil.USPosition)  # the position is the user's choice
window.map()
context = window.create_gc(foreground=0xFFFFFF)
screen.flush()
print("ready", flush=True)
count = 0
while True:
    event = screen.next_event()
    if event.type in (X.ButtonPress, X.ButtonRelease):
        kind = "press" if event.type == X.ButtonPress else "release"
        print(kind, event.detail, event.root_x, event.root_y, int(event.send_event), flush=True)
    elif event.type == X.MappingNotify:
        screen.refresh_keyboard_mapping(event)
    elif event.type == X.KeyPress:
        keysym = screen.keycode_to_keysym(event.detail, event.state & 1)
        print("key", keysym, event.state & 0xFF, int(event.send_event), flush=True)
    if event.type in (X.ButtonPress, X.KeyPress):
        count += 1
        context.change(foreground=(count * 0x123457) & 0xFFFFFF)
        window.fill_rectangle(context, 0, 0, WIDTH, HEIGHT)
        screen.flush()
