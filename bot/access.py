"""Who may talk to the bot. Nobody gets in by accident: no list means only the owner, no owner means nobody."""

from msgspec import Struct

from bot.messages import Person

NEVER = frozenset({"telegram:1087968824", "telegram:136817688", "telegram:777000"})
"""Telegram's shared senders (anonymous admins, channels, service messages): they are not one person."""


class Access(Struct, frozen=True):
    owner: str = ""
    allowed: frozenset[str] = frozenset()
    everyone: bool = False

    def may_talk(self, person: Person) -> bool:
        if person.id in NEVER:
            return False
        return self.everyone or person.id == self.owner or bool(self.allowed & _names(person))


def read_access(owner: str, allowed: str) -> Access:
    """From the settings: ids like ``telegram:42`` or ``slack:T1:U1`` (``slack:U1`` for any workspace), separated by
    commas; ``*`` alone lets everyone in."""
    ids = frozenset(part.strip() for part in allowed.split(",") if part.strip())
    return Access(owner=owner.strip(), allowed=ids - {"*"}, everyone="*" in ids)


def _names(person: Person) -> set[str]:
    platform, *_, last = person.id.split(":")
    return {person.id, f"{platform}:{last}", last} if platform == "telegram" else {person.id, f"{platform}:{last}"}
