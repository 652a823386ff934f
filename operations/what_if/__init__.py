"""What-if runs: changed weather, changed storage."""
