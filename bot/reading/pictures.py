"""Pictures as the model takes them: small enough, upright, and with nothing in them but what is to be seen."""

import io

from PIL import AvifImagePlugin, Image, ImageOps, TiffImagePlugin, WebPImagePlugin

from bot.errors import FileRefused
from bot.ports import Read
from bot.reading.limits import LARGEST_PICTURE, LONG_SIDE, MOST_PIXELS

_FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/bmp": "BMP",
    "image/tiff": "TIFF",
    "image/avif": "AVIF",
    "image/heic": "HEIF",
}
_BESIDE_THE_USUAL = (AvifImagePlugin, TiffImagePlugin, WebPImagePlugin)
"""Formats that Pillow knows once these are loaded; otherwise it loads all it has."""
_SHARP = frozenset({"PNG", "GIF", "BMP", "TIFF"})
"""What screenshots and drawings are kept in: as JPEG their letters would blur."""
_IN_STEPS = frozenset({"1", "P", "PA"})
"""Modes in which a picture can not be made smaller without losing lines."""
_QUALITY = 85

TOO_MANY_PIXELS = f"The picture has more than {MOST_PIXELS // 1_000_000} million pixels."


def read(data: bytes, media_type: str) -> Read:
    """The first frame, at most LONG_SIDE pixels long and LARGEST_PICTURE bytes. Raises FileRefused where it has too
    many pixels, and whatever Pillow raises where it is broken."""
    picture, sharp = _opened(data, _FORMATS[media_type])
    picture = _small(picture)
    encoded, media_type = _encoded(picture, sharp)
    return Read(data=encoded, media_type=media_type, width=picture.width, height=picture.height)


def _opened(data: bytes, format_name: str) -> tuple[Image.Image, bool]:
    """The picture, only its header read yet, and whether it is one of those that are kept sharp."""
    if format_name == "HEIF":
        from pi_heif import register_heif_opener

        register_heif_opener(thumbnails=False, depth_images=False, aux_images=False)
    try:
        picture = Image.open(io.BytesIO(data), formats=[format_name])
    except Image.DecompressionBombError:
        raise FileRefused(TOO_MANY_PIXELS) from None
    if picture.width * picture.height > MOST_PIXELS:
        raise FileRefused(TOO_MANY_PIXELS)
    return picture, format_name in _SHARP


def _small(picture: Image.Image) -> Image.Image:
    """Made smaller before anything else: a copy of the whole might take more memory than there is."""
    mode = _mode(picture)
    if picture.mode in _IN_STEPS:
        picture = picture.convert(mode)
    picture.thumbnail((LONG_SIDE, LONG_SIDE))
    return _eight_bits(_upright(picture)).convert(mode)


def _mode(picture: Image.Image) -> str:
    if picture.has_transparency_data:
        return "RGBA"
    return "L" if picture.mode[0] in "1LIF" and picture.mode != "LAB" else "RGB"


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Pillow would show everything above 255 as white."""
    if picture.mode[0] not in "IF":
        return picture
    brightest = picture.getextrema()[1]
    if isinstance(brightest, tuple) or brightest <= 255:
        return picture
    scale = 1 / 256 if brightest < 65_536 else 255 / brightest
    return picture.point(lambda value: value * scale)


def _upright(picture: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(picture)
    except Exception:  # what is wrong with its metadata takes no picture away: it is shown as it lies
        return picture


def _encoded(picture: Image.Image, sharp: bool) -> tuple[bytes, str]:
    """The bytes and their media type. Of what the file said about itself, where it was taken above all, nothing is
    left."""
    picture.info.clear()
    if sharp or picture.mode == "RGBA":
        encoded = _saved(picture, "PNG")
        if len(encoded) <= LARGEST_PICTURE:
            return encoded, "image/png"
    return _saved(_on_white(picture), "JPEG", quality=_QUALITY), "image/jpeg"


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode != "RGBA":
        return picture
    page = Image.new("RGB", picture.size, "white")
    page.paste(picture, mask=picture.getchannel("A"))
    return page


def _saved(picture: Image.Image, format_name: str, **options: int) -> bytes:
    file = io.BytesIO()
    picture.save(file, format_name, **options)
    return file.getvalue()
