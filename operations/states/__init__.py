"""States: advancing them by days, assimilating flow, changing their water."""
