"""Bridges: how the weather of one product is turned into that of another, and what that is worth."""
