"""What-if runs compared with the runs without their changes."""
