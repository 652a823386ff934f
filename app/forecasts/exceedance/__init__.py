"""How likely it is that discharge passes a level."""
