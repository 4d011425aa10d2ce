from .leaderboard_frame import BoardRow as BoardRow
from .leaderboard_frame import Leaderboard as Leaderboard
from .leaderboard_frame import leaderboard as leaderboard
from .static_site.site import ReportConfig as ReportConfig
from .static_site.site import write_report as write_report
from .terminal_leaderboard import print_board as print_board
