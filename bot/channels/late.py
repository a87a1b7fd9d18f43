"""Channels that are made when somebody is to be reached there: each loads an SDK, and one turn needs one of them."""

from collections.abc import Callable, Iterator, Mapping

from bot.ports import Channel


class LateChannels(Mapping[str, Channel]):
    """By platform. What was made is kept; use it inside the event loop, to which a channel's connections belong."""

    def __init__(self, makers: Mapping[str, Callable[[], Channel]]) -> None:
        self._makers = makers
        self._made: dict[str, Channel] = {}

    def __getitem__(self, platform: str) -> Channel:
        if platform not in self._made:
            self._made[platform] = self._makers[platform]()
        return self._made[platform]

    def __contains__(self, platform: object) -> bool:
        return platform in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    async def close(self) -> None:
        for channel in self._made.values():
            await channel.close()
