"""What a browser pictured, kept as a small file in ``docs/``."""

from io import BytesIO
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
COLOURS = 256
"""Of a picture: enough for text, and a third of the bytes."""


def keep(file: Path, data: bytes, method: Image.Quantize) -> None:
    """``method`` chooses the colours."""
    picture = Image.open(BytesIO(data)).convert("RGB").quantize(COLOURS, method, dither=Image.Dither.NONE)
    picture.save(file, "PNG", optimize=True)
    print(file.relative_to(ROOT), f"{file.stat().st_size // 1000} kB", flush=True)
