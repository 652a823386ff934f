"""Deliveries: what came of telling receivers."""
