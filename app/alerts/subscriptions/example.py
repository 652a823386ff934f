"""The answers that the documentation shows: a receiver that wants watches and warnings of one river."""

from typing import Any

SUBSCRIPTION: dict[str, Any] = {
    "id": "01a1fa2ab3c4d50b5f2e91",
    "url": "https://rivers.example/hooks/freshet",
    "basins": ["USGS-13235000"],
    "least_severity": "watch",
    "created_at": "2026-11-22T09:30:00Z",
    "rotated_at": None,
    "old_secret_until": None,
    "missing": {
        "rotated_at": "Its secret is the first.",
        "old_secret_until": "Its secret is the only one that is good.",
    },
}
NEW_SECRET: dict[str, Any] = {
    **SUBSCRIPTION,
    "secret": "whsec_bm90IGEgc2VjcmV0LCBidXQgYSBwbGFjZWhvbGRlcg==",
}
