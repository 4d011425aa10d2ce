"""A company's workplace: chat, tracker, files, repositories and calendar, as real services in a box of their own."""
