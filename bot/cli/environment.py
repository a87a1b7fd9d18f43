"""The names and values that this process was started with."""

import os

from dotenv import dotenv_values


def environment() -> dict[str, str]:
    """The environment wins over the file .env in the working folder."""
    file = {name: value or "" for name, value in dotenv_values(".env").items()}
    return {**file, **os.environ}
