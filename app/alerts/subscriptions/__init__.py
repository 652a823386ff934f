"""Subscriptions: who is told of alert changes."""
