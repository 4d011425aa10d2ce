"""When a customer takes deliveries: `06:00-10:30`."""


def read_window(text):
    """(from, to) in minutes. ValueError where the text is no window."""
    begins, _, ends = text.partition("-")
    window = _minutes(begins), _minutes(ends)
    if window[0] > window[1]:
        raise ValueError(f"window ends before it begins: {text!r}")
    return window


def wait(window, arrival):
    """Minutes that a vehicle waits that arrives then; None where it comes too late."""
    begins, ends = window
    if arrival > ends:
        return None
    return max(0.0, begins - arrival)


def _minutes(text):
    hours, _, minutes = text.strip().partition(":")
    if not (hours.isdigit() and minutes.isdigit() and int(hours) < 24 and int(minutes) < 60):
        raise ValueError(f"no time of day: {text!r}")
    return int(hours) * 60 + int(minutes)
