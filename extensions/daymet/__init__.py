"""Past weather of Daymet at gauges."""
