"""How far a forecast's discharge spreads, and what makes it."""
