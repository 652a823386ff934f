"""The audit trail, for admins."""
