"""The parameter counts that the EINS paper prints, beside those of our recurrence and of `torch.nn.LSTM`."""

import time

from torch import nn

from benchmarks.papers.plan import Plan, Report, Row
from models.nets.comparison_networks import EINSRecurrence

PRINTED = {  # (xi, theta): EINS and LSTM as printed
    (400, 1150): ("2.62 M", "7.13 M"),
    (1150, 1150): ("9.26 M", "10.58 M"),
    (70, 100): ("44.9 K", "68.4 K"),
    (100, 800): ("0.42 M", "2.88 M"),
    (20, 20): ("2.82 K", "3.28 K"),
    (300, 256): ("564.30 K", "570.37 K"),
}


def run(plan: Plan) -> Report:  # noqa: ARG001 - as every experiment
    """Count."""
    started = time.perf_counter()
    rows = []
    for (xi, theta), (eins, lstm) in PRINTED.items():
        ours = sum(parameter.numel() for parameter in EINSRecurrence(xi, theta).parameters())
        # The printed LSTM has one bias a gate, torch's has two.
        of_torch = sum(parameter.numel() for parameter in nn.LSTM(xi, theta).parameters()) - 4 * theta
        result = f"EINS {ours:,}, LSTM {of_torch:,}"
        rows.append(
            Row(f"xi {xi}, theta {theta}", f"EINS {eins}, LSTM {lstm}", result, {"eins": ours, "lstm": of_torch})
        )
    setup = {"formula": "2 xi^2 + 5 xi theta + xi against 4 xi theta + 4 theta^2 + 4 theta (one bias)"}
    return Report("Parameters", "EINS paper, parameter counts", setup, rows, time.perf_counter() - started)
