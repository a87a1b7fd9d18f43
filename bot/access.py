"""Who may talk to the bot. Nobody gets in by accident: no list means only the owner, no owner means nobody."""

from typing import Literal

from msgspec import Struct

from bot.messages import Person

NEVER = frozenset({"telegram:1087968824", "telegram:136817688", "telegram:777000"})
"""Telegram's shared senders (anonymous admins, channels, service messages): they are not one person."""

Role = Literal["", "owner", "member", "guest"]


class Access(Struct, frozen=True):
    owner: str = ""
    allowed: frozenset[str] = frozenset()
    everyone: bool = False
    exact: bool = False
    """Of somebody in Slack the workspace must be named too: the app is in many, and an id is one workspace's."""

    def role(self, person: Person, given: str = "", chat: str = "") -> Role:
        """What this person may do. ``given`` is the role that the owner gave them; ``chat`` the one given to everybody
        in the group they write in: that makes nobody more than a guest."""
        names = self._names(person)
        if self.owner in names and person.id not in NEVER:
            return "owner"  # who could be let in again by nobody can not be shut out either
        if person.id in NEVER or given == "banned":
            return ""
        if self.everyone or self.allowed & names or given == "member":
            return "member"
        return "guest" if given == "guest" or chat else ""

    def _names(self, person: Person) -> set[str]:
        """Every way in which the settings may name this person."""
        platform, *_, last = person.id.split(":")
        names = {person.id} if self.exact and platform == "slack" else {person.id, f"{platform}:{last}"}
        return names | {last} if platform == "telegram" and last else names

    @property
    def owner_id(self) -> str:
        """The owner's id, "" where none is set or it names nobody in particular."""
        platform, _, rest = self.owner.partition(":")
        if not rest:
            return f"telegram:{platform}" if platform.isdecimal() else ""
        return self.owner


def read_access(owner: str, allowed: str, *, exact: bool = False) -> Access:
    """From the settings: ids like ``telegram:42`` or ``slack:T1:U1``, separated by commas. ``slack:U1`` is that person
    in any workspace, unless ``exact``; ``42`` the same as ``telegram:42``. ``*`` alone lets everyone in; beside ids it
    means nothing.
    """
    ids = frozenset(part.strip() for part in allowed.split(",") if part.strip())
    return Access(owner=owner.strip(), allowed=ids - {"*"}, everyone=ids == {"*"}, exact=exact)
