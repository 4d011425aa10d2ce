from .application import content_app as content_app
