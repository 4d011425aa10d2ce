"""Web pages of the repositories: code, history, branches and merge requests, at the addresses that GitLab uses."""
