"""Subscriptions: receivers of alert changes."""
