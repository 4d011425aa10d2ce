"""Dialects: REST APIs of other products over the running services, for agents and graders that were written for those
products.

A dialect queries its service with the account of the requesting client. So nobody can do more through a dialect than
through the service itself. If the service cannot fulfil a request, the answer is 501 and names the missing feature. The
operator can list these requests with `GET /.worksample/refused`.
"""
