"""Small synthetic data that resemble usual training data: digits, textures, tables, sequences, text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Batch = tuple[Array, ...]

# The segments of a seven-segment display that each digit lights: top, upper left, upper right, middle, lower left,
# lower right, bottom.
_SEGMENTS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)
_STROKES = (
    (slice(0, 1), slice(1, 4)),
    (slice(0, 4), slice(0, 1)),
    (slice(0, 4), slice(4, 5)),
    (slice(3, 4), slice(1, 4)),
    (slice(3, 7), slice(0, 1)),
    (slice(3, 7), slice(4, 5)),
    (slice(6, 7), slice(1, 4)),
)


def normalized(values: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """Normalize to mean 0 and standard deviation 1, over everything or along ``axis``."""
    centered = values - values.mean(axis, keepdims=True)
    return np.asarray(centered / (centered.std(axis, keepdims=True) + 1e-6), np.float32)


def batches(*columns: Array, size: int = 16, steps: int = 12) -> list[Batch]:
    """Return this many batches, repeating the rows in order; a last batch may be smaller."""
    starts = list(range(0, len(columns[0]), size))
    return [tuple(c[starts[i % len(starts)] :][:size] for c in columns) for i in range(steps)]


def digits(count: int = 64, size: int = 8, channels: int = 1, classes: int = 10, seed: int = 0) -> tuple[Array, Array]:
    """Return shifted, noisy digits of 0 to 255 (count, channels, size, size), and the labels; size is 8 or 16."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % classes).astype(np.int32)
    images: Array = np.zeros((count, 8, 8))
    for image, label in zip(images, labels, strict=True):
        top, left = random.integers(0, 2), random.integers(0, 4)
        for lit, (rows, columns) in zip(_SEGMENTS[label], _STROKES, strict=True):
            if lit == "1":
                image[top : top + 7, left : left + 5][rows, columns] = random.uniform(170, 255)
    images = np.kron(images, np.ones((size // 8, size // 8)))[:, None].repeat(channels, 1)
    return np.clip(images + random.normal(0, 12, images.shape), 0, 255).astype(np.float32), labels


def textures(count: int = 64, size: int = 16, classes: int = 4, seed: int = 0) -> tuple[Array, Array]:
    """Return normalized color pictures (count, 3, size, size) of tinted stripes, and the stripes' direction."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % classes).astype(np.int32)
    angles = np.pi * labels / classes
    y, x = np.mgrid[:size, :size]
    waves = np.cos(angles)[:, None, None] * x + np.sin(angles)[:, None, None] * y
    stripes = np.sin(0.9 * waves + random.uniform(0, 2, (count, 1, 1)))[:, None]
    tint = np.stack([np.cos(2 * angles), np.sin(2 * angles), np.cos(angles)], 1)[:, :, None, None]
    return normalized(stripes + 0.5 * tint + random.normal(0, 0.3, (count, 3, size, size))), labels


def blobs(count: int = 64, size: int = 16, seed: int = 0) -> tuple[Array, Array]:
    """Return normalized gray pictures (count, 1, size, size) with bright disks, and the disks' masks of 0 and 255."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size]
    centers, radii = random.uniform(4, size - 4, (2, count, 1, 1)), random.uniform(2.5, 4.5, (count, 1, 1))
    inside = ((y - centers[0]) ** 2 + (x - centers[1]) ** 2 < radii**2)[:, None]
    return normalized(inside + random.normal(0, 0.3, inside.shape)), (255 * inside).astype(np.float32)


def flowers(count: int = 64, features: int = 6, classes: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Return normalized measurements (count, features) around the middle of each class, and the classes."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % classes).astype(np.int32)
    middles = np.random.default_rng(7).normal(0, 1.5, (classes, features))
    return normalized(middles[labels] + random.normal(0, 0.8, (count, features)), 0), labels


def houses(count: int = 64, seed: int = 0) -> tuple[Array, Array]:
    """Return area, rooms, year, distance and the district's mean income in their units, and the normalized price."""
    random = np.random.default_rng(seed)
    area, year = random.uniform(30, 220, count), random.uniform(1900, 2020, count)
    distance, income = random.uniform(0.2, 25, count), random.normal(42_000, 9_000, count)
    rooms = np.round(area / 28 + random.normal(0, 0.5, count))
    price = 0.02 * area + 0.01 * (year - 1960) - 0.08 * distance + income / 20_000 + random.normal(0, 0.2, count)
    return np.stack([area, rooms, year, distance, income], 1).astype(np.float32), normalized(price)


def waves(count: int = 64, length: int = 16, classes: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Return noisy sines of two phases (count, length, 2), normalized, and the class of their frequency."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % classes).astype(np.int32)
    time = np.arange(length) * (0.3 + 0.35 * labels[:, None]) + random.uniform(0, 1, (count, 1))
    return normalized(np.stack([np.sin(time), np.cos(time)], 2) + random.normal(0, 0.2, (count, length, 2))), labels


def prices(count: int = 64, length: int = 12, seed: int = 0) -> tuple[Array, Array]:
    """Return share prices around 3000 (count, length, 1), and the normalized next one (count,)."""
    random = np.random.default_rng(seed)
    time = np.arange(length + 1) + random.uniform(0, 20, (count, 1))
    curves = 3000 + 150 * np.sin(0.4 * time) + random.normal(0, 10, time.shape)
    return curves[:, :-1, None].astype(np.float32), normalized(curves[:, -1])


def reviews(count: int = 64, length: int = 10, words: int = 40, classes: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Return word numbers (count, length) with 0 for padding at the end, and the class whose words occur most."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % classes).astype(np.int32)
    texts = random.integers(1 + 5 * classes, words, (count, length))
    telling = 1 + 5 * labels[:, None] + random.integers(0, 5, (count, length))
    texts = np.where(random.random((count, length)) < 0.5, telling, texts)
    lengths = random.integers(length // 2, length + 1, (count, 1))
    return np.where(np.arange(length) < lengths, texts, 0).astype(np.int32), labels


def text(count: int = 32, length: int = 12, words: int = 20, seed: int = 0) -> tuple[Array, Array]:
    """Return sequences in which a word mostly names the next (count, length), and the same shifted by one."""
    random = np.random.default_rng(seed)
    after = np.random.default_rng(3).permutation(words)
    rows = np.zeros((count, length + 1), np.int32)
    rows[:, 0] = random.integers(0, words, count)
    for index in range(length):
        guess = random.integers(0, words, count)
        rows[:, index + 1] = np.where(random.random(count) < 0.1, guess, after[rows[:, index]])
    return rows[:, :-1], rows[:, 1:]


def recall(count: int = 64, length: int = 20, classes: int = 4, seed: int = 0) -> tuple[Array, Array]:
    """Return sequences (count, length, classes) that show a class at the first step and then noise, and the class."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % classes).astype(np.int32)
    steps = random.normal(0, 0.3, (count, length, classes)).astype(np.float32)
    steps[:, 0] = 3 * np.eye(classes)[labels]
    return normalized(steps), labels
