"""What people look at: the leaderboard in a terminal, a static site, the files to publish."""

from .leaderboard import Leaderboard, Row, leaderboard
from .static_site.site import ReportConfig, write_report
from .terminal import print_board

__all__ = ["Leaderboard", "ReportConfig", "Row", "leaderboard", "print_board", "write_report"]
