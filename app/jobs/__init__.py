"""Jobs: posting them, watching them, stopping them."""
