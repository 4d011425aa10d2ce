"""From records and figures to what the API says."""
