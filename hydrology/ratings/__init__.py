"""Stage and discharge: rating tables of gauges."""
