"""What every request passes: hosts, headers, guards, limits, errors as JSON."""
