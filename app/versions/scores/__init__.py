"""Skill of model versions against observations."""
