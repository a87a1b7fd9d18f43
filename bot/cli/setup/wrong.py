"""What is wrong with an answer or a place to keep it, in the person's language once it is told."""


class Wrong(Exception):
    """``text`` names a sentence of ``texts``, ``values`` are what it says; no secret is among them."""

    def __init__(self, text: str, /, **values: str) -> None:
        super().__init__(text)
        self.text = text
        self.values = values
