"""The modes of comparison. Each mode has its own module, so that a grader imports only the code that it needs."""
