"""Programs that run inside the box and are sent there as text. They import only the standard library and IPython."""
