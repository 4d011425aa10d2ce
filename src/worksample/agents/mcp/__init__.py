"""Tools that a task offers through the Model Context Protocol (MCP). The platform's harnesses and programs in the box
can use them.
"""
