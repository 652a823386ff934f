"""Archives replayed as if daily: alerts, live feeds, the daily job beside an operator's replay."""
