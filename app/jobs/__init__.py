"""Jobs: posting, following and cancelling them."""
