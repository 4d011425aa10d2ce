from .create import content_app as content_app
