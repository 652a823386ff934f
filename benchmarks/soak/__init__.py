"""Half an hour of a whole service with random kills: its answers, its jobs and its memory."""
