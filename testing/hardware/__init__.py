"""Hardware that the machine of a test lacks."""
