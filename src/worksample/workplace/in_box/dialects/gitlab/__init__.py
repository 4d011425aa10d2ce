"""GitLab's REST API (v4) and its addresses for git, over the repositories and the tracker.

Every project lies in one namespace, `root`. Issues, milestones, members and wikis are the tracker's; labels and merge
requests, which neither service has, are kept by the dialect.
"""
