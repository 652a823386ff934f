"""Gauges that no network has learnt from: attributes of their land, and skill by the documented way."""
