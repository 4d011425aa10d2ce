"""Two or more agents held against each other, and what it takes to see a difference."""
