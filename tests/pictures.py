"""Small real files, as people send them."""

import io

from PIL import Image, ImageDraw, ImageOps


def picture(width: int = 40, height: int = 30, kind: str = "PNG", colour: str = "teal") -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(data, kind)
    return data.getvalue()


def sunset(sky: str, ground: str, width: int = 640, height: int = 480) -> bytes:
    """Something to look at: a mountain before a sky."""
    image = ImageOps.colorize(Image.linear_gradient("L").resize((width, height)), sky, "white")
    slopes = [(0, height), (width * 0.45, height * 0.4), (width * 0.55, height * 0.4), (width, height)]
    ImageDraw.Draw(image).polygon(slopes, fill=ground)
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


PNG = picture()
