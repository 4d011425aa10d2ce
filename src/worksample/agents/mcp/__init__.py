"""Tools that a task offers through the Model Context Protocol, for the platform's harnesses and for programs in the
box.
"""
