"""Fault drills: each process of a service killed or stopped in turn, and what it stands on, under load."""
