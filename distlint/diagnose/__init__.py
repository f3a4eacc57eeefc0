"""Logs of distributed jobs: what failed first, which rank is missing, and what that means.

``signatures`` is the data, ``sources`` opens what the user named, ``lines`` takes a line apart,
``scan`` finds what matters in it, ``verdict`` decides what came first, and ``report`` says so.
"""
