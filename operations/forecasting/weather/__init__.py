"""The weather after T0: its choice, and what fills weather that was not observed in time or not forecast."""
