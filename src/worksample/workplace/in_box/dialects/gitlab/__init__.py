"""The dialect of GitLab: its REST API (v4) and its git addresses, over the repositories and the tracker.

Every project is in one namespace, `root`. Issues, milestones, members and wikis are stored in the tracker. Labels and
merge requests are stored by the dialect, because no service has them.
"""
