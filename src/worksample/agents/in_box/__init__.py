"""Programs that run inside the box. The platform sends their source into the box as text, so they import only the
standard library and IPython.
"""
