"""Media types of answers that are treated by their type."""

EVENT_STREAM = "text/event-stream"
CSV = "text/csv"
COVERAGEJSON = "application/prs.coverage+json"
