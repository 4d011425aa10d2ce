"""The workplace of a simulated company: chat, tracker, files, repositories and calendar, as real services that run in a
separate box.
"""
