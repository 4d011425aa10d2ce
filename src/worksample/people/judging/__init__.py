"""One person's work: items given out, drafts, answers handed in."""
