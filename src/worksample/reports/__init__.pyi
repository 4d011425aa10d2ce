from .board import BoardRow as BoardRow
from .board import Leaderboard as Leaderboard
from .board import leaderboard as leaderboard
from .static_site.site import ReportConfig as ReportConfig
from .static_site.site import write_report as write_report
from .terminal import print_board as print_board
