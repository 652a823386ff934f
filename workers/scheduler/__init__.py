"""What the scheduler does: fires schedules, sends waiting jobs, recovers lost work."""
