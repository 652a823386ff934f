"""What every process needs: settings, the clock, logs, private files, liveness."""
