"""Commands about weather and feeds."""
