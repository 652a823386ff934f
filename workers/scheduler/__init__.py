"""The scheduler: fires schedules, sends waiting jobs, recovers lost work."""
