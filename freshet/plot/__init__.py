"""A forecast as it is drawn: the flow that was observed, and the bands that the days ahead are likely to lie in."""
