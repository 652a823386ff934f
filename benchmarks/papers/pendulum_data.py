"""The pendulum sets: the two energies of a damped pendulum over 25 s, and sinusoids of time.

Source: Hoedt et al., MC-LSTM, the pendulum experiment; constants as in the authors' published code.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEPS = 1000
STEP = 0.025  # s
MASS = 1.0  # kg
GRAVITY = 9.81  # m/s2
WAVES = (10, 20, 30, 40, 50, 100, 200, 400, 600)

TRAINING_STEPS = (100, 200, 400)
NOISE = (0.0, 0.01)  # J
DAMPING = (0.0, 0.1, 0.2, 0.4, 0.8)  # kg/s
AMPLITUDES = (0.2, 0.4)  # rad
LENGTHS = (0.75, 1.0)  # m


@dataclass(frozen=True, slots=True)
class Pendulum:
    """A set: its number among the 120, and its five levels."""

    number: int
    training_steps: int
    noise: float
    damping: float
    amplitude: float
    length: float


def pendulums() -> list[Pendulum]:
    """Return the 120 sets; length and amplitude change fastest."""
    levels = product(TRAINING_STEPS, NOISE, DAMPING, AMPLITUDES, LENGTHS)
    return [Pendulum(number, *level) for number, level in enumerate(levels)]


def energies(pendulum: Pendulum) -> Array:
    """Return kinetic and potential energy (1000, 2), J, without noise: damped oscillation of small angles."""
    b, k2 = pendulum.damping, MASS * GRAVITY / pendulum.length
    decay = b / (2 * MASS)
    h = np.sqrt(k2 / MASS - decay**2)
    t = STEP * np.arange(STEPS)
    envelope = pendulum.amplitude * np.exp(-decay * t)
    angle = envelope * (np.cos(h * t) + decay / h * np.sin(h * t))
    speed = -envelope * (h + decay**2 / h) * np.sin(h * t)
    kinetic = 0.5 * MASS * (pendulum.length * speed) ** 2
    potential = MASS * GRAVITY * pendulum.length * (1 - np.cos(angle))
    return np.stack([kinetic, potential], -1)


def waves() -> Array:
    """Return the auxiliary inputs (1000, 9): sin(n s), s from 0 to pi."""
    s = np.linspace(0, np.pi, STEPS)
    return np.asarray(np.sin(s[:, None] * np.array(WAVES)))


@dataclass(frozen=True, slots=True)
class Series:
    """What is observed of a pendulum: (1000, 2) in J, and how it is scaled.

    Attributes:
        observed: kinetic and potential energy with noise.
        low, span: least value and range of each over the training part.
    """

    observed: Array
    low: Array
    span: Array

    @property
    def scaled(self) -> Array:
        """The observed energies, from 0 to 1 over the training part."""
        return (self.observed - self.low) / self.span

    def unscaled(self, predicted: NDArray[Any]) -> Array:
        """Return scaled energies in J."""
        return predicted * self.span + self.low


def series(pendulum: Pendulum) -> Series:
    """Return what is observed of a pendulum; its noise depends on its number alone."""
    noise = np.random.default_rng(pendulum.number).normal(0, pendulum.noise, (STEPS, 2))
    observed = energies(pendulum) + noise
    training = observed[: pendulum.training_steps]
    low = training.min(0)
    return Series(observed, low, training.max(0) - low)
