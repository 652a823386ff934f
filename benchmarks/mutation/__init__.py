"""How many small faults in ten modules the tests find."""
