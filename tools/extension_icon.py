"""Draws the icon of the VS Code extension: a speech bubble that holds layers, the newest one bright.

python -m tools.extension_icon FILE
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

SIZE = 128
SAMPLES = 4  # per pixel and direction, for smooth edges

Color = tuple[float, float, float]
Shape = Callable[[float, float], bool]

TOP: Color = (74, 58, 167)
BOTTOM: Color = (28, 20, 82)
BUBBLE: Color = (245, 243, 255)
LAYERS: tuple[Color, ...] = ((255, 176, 32), (140, 122, 230), (188, 178, 240))


def rounded(left: float, top: float, right: float, bottom: float, radius: float) -> Shape:
    """A rectangle with round corners."""

    def contains(x: float, y: float) -> bool:
        dx = max(left + radius - x, x - right + radius, 0.0)
        dy = max(top + radius - y, y - bottom + radius, 0.0)
        return dx * dx + dy * dy <= radius * radius

    return contains


def tail(x: float, y: float) -> bool:
    """The point of the speech bubble, down to the left."""
    return 84 <= y <= 108 and 36 <= x <= 36 + (108 - y)


BACKGROUND = rounded(0, 0, SIZE, SIZE, 26)
BODY = rounded(22, 24, 106, 90, 14)
LINES = tuple(rounded(36, top, right, top + 9, 4.5) for top, right in ((37, 92), (53, 80), (69, 86)))


def color_at(x: float, y: float) -> Color | None:
    """The colour of a point; None outside the icon."""
    if not BACKGROUND(x, y):
        return None
    for line, color in zip(LINES, LAYERS, strict=True):
        if line(x, y):
            return color
    if BODY(x, y) or tail(x, y):
        return BUBBLE
    part = y / SIZE
    red, green, blue = (top + (bottom - top) * part for top, bottom in zip(TOP, BOTTOM, strict=True))
    return red, green, blue


def pixel(column: int, row: int) -> bytes:
    """The red, green, blue and opacity of a pixel: the mean of its samples."""
    offsets = [(index + 0.5) / SAMPLES for index in range(SAMPLES)]
    seen = [found for dy in offsets for dx in offsets if (found := color_at(column + dx, row + dy)) is not None]
    if not seen:
        return bytes(4)
    mean = [round(sum(channel) / len(seen)) for channel in zip(*seen, strict=True)]
    return bytes([*mean, round(255 * len(seen) / SAMPLES**2)])


def png() -> bytes:
    """The icon as a PNG file."""
    rows = b"".join(b"\0" + b"".join(pixel(column, row) for column in range(SIZE)) for row in range(SIZE))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    """A part of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(png())
