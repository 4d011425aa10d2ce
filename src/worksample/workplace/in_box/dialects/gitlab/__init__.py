"""GitLab's REST API (v4) and its git addresses, over the repositories and the tracker.

Every project lies in one namespace, `root`. Issues, milestones, members and wikis are the tracker's; the dialect itself
keeps labels and merge requests, which neither service has.
"""
