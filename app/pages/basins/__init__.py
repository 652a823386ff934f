"""A basin at a glance: its facts, scores and plots, alone or beside others."""
