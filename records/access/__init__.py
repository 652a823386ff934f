"""Stored API keys and the audit trail."""
