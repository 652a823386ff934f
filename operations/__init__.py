"""The work itself: each module joins sources, records and models into one thing that the service does."""
