"""What a basin would give if nothing more fell."""
