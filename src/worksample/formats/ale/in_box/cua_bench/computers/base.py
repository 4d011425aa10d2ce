"""The class that packages name in annotations."""


class DesktopSession:
    """The type of a session. Packages only name it; graders get a session of their own."""
