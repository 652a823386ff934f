"""Deliveries: attempts to notify receivers, and their outcome."""
