"""Media types with special treatment."""

EVENT_STREAM = "text/event-stream"
CSV = "text/csv"
COVERAGEJSON = "application/prs.coverage+json"
