"""Code that runs inside a box. It imports nothing of the platform except `worksample.viewing.in_box`."""
