"""Stored alerts: thresholds, alert states and changes, subscriptions, deliveries."""
