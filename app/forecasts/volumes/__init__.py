"""The volume of a season."""
