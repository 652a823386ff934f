"""The water in each cell of a network by day: as stored with the states, and computed for any days."""
