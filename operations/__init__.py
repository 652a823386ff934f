"""The service's operations: each module joins sources, records and models into one task."""
