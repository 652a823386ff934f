"""Rain margins: how much rain takes flow to a level."""
