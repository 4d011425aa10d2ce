"""REST as other products speak it, over the services that stand: for agents and graders that were written for those.

Each dialect asks its service as whoever asks it: nobody can do more by it than by the service itself. What a service
cannot give is answered with 501 and what is missing, and remembered: `GET /.worksample/refused`, for the operator.
"""
