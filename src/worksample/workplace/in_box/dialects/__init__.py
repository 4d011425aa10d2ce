"""REST APIs of other products over the running services, for agents and graders that were written for those products.

Each dialect queries its service as the requesting account: nobody can do more through it than through the service
itself. A request that the service cannot fulfil is answered with 501 and the missing feature, and remembered: `GET
/.worksample/refused`, for the operator.
"""
