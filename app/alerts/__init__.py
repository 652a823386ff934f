"""Alerts: the current severity of each basin's levels, and the changes."""
