"""The queue: broker, messages, schedules, uploads."""
