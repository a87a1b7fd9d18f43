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
        names = _names(person)
        return self.everyone or self.owner in names or bool(self.allowed & names)

    def is_owner(self, person: Person) -> bool:
        return person.id not in NEVER and self.owner in _names(person)


def read_access(owner: str, allowed: str) -> Access:
    """From the settings: ids like ``telegram:42`` or ``slack:T1:U1``, separated by commas. ``slack:U1`` is that person
    in any workspace, ``42`` the same as ``telegram:42``. ``*`` alone lets everyone in; beside ids it means nothing.
    """
    ids = frozenset(part.strip() for part in allowed.split(",") if part.strip())
    return Access(owner=owner.strip(), allowed=ids - {"*"}, everyone=ids == {"*"})


def _names(person: Person) -> set[str]:
    """Every way in which the settings may name this person."""
    platform, *_, last = person.id.split(":")
    names = {person.id, f"{platform}:{last}"}
    return names | {last} if platform == "telegram" and last else names
