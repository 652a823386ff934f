"""What-if runs beside the runs without their changes."""
