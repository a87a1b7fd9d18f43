"""Conversations in one DynamoDB table.

Everything about a conversation shares the partition key ``C#<conversation>``:

    sk                        attributes
    HEAD                      lease_owner, until_ms, last_seq, since_seq, turn (JSON), settings (JSON), written_by: the
                              schema of who wrote the conversation last. Unless it is nested due_shard and received_at:
                              the day it was last used
    IN#<order>#<message id>   until it is taken ``pending``; until it is answered inbound (zlib-compressed JSON), then
                              ``expires_at``. To the bot: until it is answered ``due_shard`` and ``received_at``; not
                              to the bot: until it is taken ``expires_at``
    H#<seq>                   zipped (an entry, zlib-compressed JSON), chunks
    H#<seq>#<chunk>           zipped, the rest of a large entry
    T#<tool_use id>           started, or zipped (the ToolRun) and chunks
    T#<tool_use id>#<chunk>   zipped, the rest of a large result
    R#<id>                    reminder (JSON), due_shard and received_at: the time that it is for

A counter is an item of its own, ``B#<scope>#<period>`` / ``B``: amount, the fields of a Bill, expires_at. Transactions
on one item exclude each other, so each of everybody's may be spread over several that share its limit (bot/shares.py):
all but the first are ``B#all#<period>#<shard>``. What is known of a person is ``U#<person>`` / ``U``: profile (JSON),
profile_version, and given_role where its owner gave one. What can be had again elsewhere is ``K#<name>`` / ``K``: kept,
expires_at. Where the app is installed is ``I#<team>`` / ``I``: installation (JSON), stamp, installed_at; what may be
done once only is ``O#<name>`` / ``O``: expires_at.

Several bots may share a table: all partition keys and shards of one that has a name begin with it and a slash.

A message is deduplicated by one conditional write, so its tombstone must stay under the very key a repeat computes,
among the pending ones. What is pending is therefore found through the local secondary index ``pending``: an item is in
it only while it has that attribute, so tombstones cost a read nothing, and a message that arrives late sorts to its
place however much has been answered since. Unlike a global index, a local one can be read consistently. Its price is
that a conversation may hold at most 10 GB. What is not to the bot passes unanswered after a while. It sorts behind what
is, the newest first: a query ends where that begins which has passed, however late the sweep by time to live is.

What is not done after a while, its wake lost, is found across conversations through the sparse global index ``due``,
spread over a few shards so that no key is hot. A sweep a minute late is fine, so eventual consistency is. Reminders are
in it too, in shards of their own: one whose schedule failed is found there when its time has passed. So are heads, to
find what nobody has used for long; as that changes once a day, a step writes to the index no more often.

What people and models wrote travels as JSON bytes, never as DynamoDB numbers: 1.0 stays 1.0, integers have any size.
"""

import asyncio
import random
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple, TypedDict

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
)
from msgspec import DecodeError, json
from msgspec.structs import replace

from bot.errors import BudgetExceeded, ConfigError, NewerSchema, StoreUnavailable
from bot.keeping import (
    MOST_PENDING,
    MOST_REMINDERS,
    REMEMBERED,
    REPEATS,
    after,
    counters_to_forget,
    is_nested,
    lost,
    passes_at,
)
from bot.messages import (
    EVERYBODY,
    Bill,
    ChatSettings,
    Counter,
    Entry,
    Head,
    Inbound,
    Installation,
    Numbered,
    Profile,
    Reminder,
    Spend,
    Spent,
    ToolRun,
)
from bot.ports import Change, Clock, Receipt, Upgraded
from bot.schema import (
    ENTRY,
    INBOUND,
    INSTALLATION,
    PROFILE,
    REMINDER,
    SCHEMA,
    SETTINGS,
    TOOL_RUN,
    TURN,
    Kind,
    expect_known,
    pack,
)
from bot.shares import share, spread

Client = Any
"""A boto3 "dynamodb" client: its methods are made at run time, so no type can be named."""

Item = dict[str, dict[str, Any]]
"""Attributes as the API spells them: ``{"until_ms": {"N": "1"}}``."""

SHARDS = ("0", "1", "2", "3")
MOST_OVERDUE = 250
"""Of one shard, handed out at once."""

CHUNK = 350_000
"""Bytes of one item's payload. An item may have 400 KB (409,600 bytes), its keys included."""

TRANSACTION_ITEMS = 100
TRANSACTION_BYTES = 4_000_000
"""A transaction may carry 4 MB; the rest is left to keys and the head."""

BATCH_KEYS = 100

VALUES_AT_ONCE = 10
"""Rewritten at the same time: as many as the client has connections to spare."""

KEPT = 100 * 24 * 3600
"""Seconds after which goes what was kept and not kept again."""

_VALUES: tuple[tuple[str, str, Kind[Any]], ...] = (
    ("HEAD", "turn", TURN),
    ("HEAD", "settings", SETTINGS),
    ("IN#", "inbound", INBOUND),
    ("H#", "zipped", ENTRY),
    ("T#", "zipped", TOOL_RUN),
    ("R#", "reminder", REMINDER),
    ("U", "profile", PROFILE),
    ("I", "installation", INSTALLATION),
)
"""How the sort keys begin, and the attributes, of items that hold stored values."""

_CONFLICT_PAUSES = (0.05, 0.1, 0.2, 0.4)
"""Seconds between tries of a write that met another one on the same item, such as a commit meeting a renewal; each
gives or takes a third, so that they do not meet again."""

CROWD_PAUSES = (*_CONFLICT_PAUSES, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
"""The same for a commit that spends: every conversation of the deployment adds to one of its counters."""

BORROWS = 4
"""How often a commit asks the other shards of a counter for room, while others take it before."""

_OVERLOADED = {
    "ProvisionedThroughputExceededException",
    "ProvisionedThroughputExceeded",
    "RequestLimitExceeded",
    "ThrottlingError",
    "ThrottlingException",
    "TransactionInProgressException",
}
_CONFLICT = {"TransactionConflict", "TransactionConflictException"}
_NOT_SET_UP = {
    "AccessDeniedException",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "ResourceNotFoundException",
    "UnrecognizedClientException",
}

KEYS: dict[str, Any] = {
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
        {"AttributeName": "pending", "AttributeType": "S"},
        {"AttributeName": "due_shard", "AttributeType": "S"},
        {"AttributeName": "received_at", "AttributeType": "N"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "pending",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "pending", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "due",
            "KeySchema": [
                {"AttributeName": "due_shard", "KeyType": "HASH"},
                {"AttributeName": "received_at", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}
"""The table's keys. A local index can only be made together with its table."""


def create_table(client: Client, table: str) -> None:
    """Make the table as ``infra/template.yaml`` does, for tests and local work, and wait until it can be used."""
    client.create_table(TableName=table, BillingMode="PAY_PER_REQUEST", **KEYS)
    client.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    client.update_time_to_live(
        TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"}
    )


_OURS = "lease_owner = :owner AND last_seq = :before"
_OURS_AND_HELD = f"{_OURS} AND until_ms > :released"
"""What fences every step: its owner holds the lease, and knows the newest entry. Values: ``_fence``."""

_LAST_ENTRY = "H#:"
"""Sorts behind every entry: ":" is the character after "9"."""

_IS_OLD_TOMBSTONE = "attribute_not_exists(pending) AND expires_at <= :old"


class _ConditionFailed(Exception):
    """A condition of a write did not hold. ``item`` is what was stored there; ``index`` its place in a transaction."""

    def __init__(self, item: Item, index: int = 0) -> None:
        super().__init__("A condition did not hold.")
        self.item = item
        self.index = index


class _Conflict(StoreUnavailable):
    """Nothing was written, because another write to the same item was under way."""


class _Added(NamedTuple):
    """What a spend, or a part of it, adds to one item, where that stays within ``limit``."""

    spend: Spend
    shard: int
    amount: int
    limit: int | None
    bill: Bill


class _Attribute(TypedDict, total=False):
    """The kinds of attributes that this table has; in JSON the bytes are base64."""

    S: str
    N: str
    B: bytes


class _Page(TypedDict, total=False):
    """What a query answers."""

    Items: list[dict[str, _Attribute]]
    Count: int
    ScannedCount: int
    LastEvaluatedKey: dict[str, _Attribute]


_PAGE = json.Decoder(_Page)


def _read_page(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """A handler of botocore's ``before-parse``, as its own parser needs longer for hundreds of entries than we for all
    the rest of a turn. What is no page is left to it."""
    if response_dict["status_code"] == HTTPStatus.OK:
        with suppress(DecodeError):
            customized_response_dict.update(_PAGE.decode(response_dict["body"]))
            response_dict["body"] = b"{}"


class DynamoDBStore:
    """The Store port on one table made by ``infra/template.yaml`` or ``create_table``."""

    def __init__(self, client: Client, table: str, clock: Clock, bot: str = "", *, shards: int = 1) -> None:
        """``client`` may be shared between stores and threads; its own retries and time limits apply. ``bot`` is the
        name of one of several that share the table, with nothing shared between them. Each of everybody's counters is
        spread over so many ``shards``: the same number wherever the table is used."""
        client.meta.events.register("before-parse.dynamodb.Query", _read_page, unique_id=_read_page.__qualname__)
        self._client = client
        self._table = table
        self._clock = clock
        self._prefix = f"{bot}/" if bot else ""
        self._shards = shards

    async def receive(self, inbound: Inbound) -> Receipt:
        """One conditional put. What is to the bot has no ``expires_at`` until it is answered: it is never swept.

        The sweep by time to live runs late, so what has expired counts as absent. Where the client repeated a put
        whose answer was lost, the first delivery may be told WAITING instead of NEW.
        """
        now = int(self._clock.now())
        try:
            await self._call(
                self._client.put_item,
                TableName=self._table,
                Item={
                    **self._key(inbound.conversation, f"IN#{inbound.key}"),
                    **self._waiting(inbound, now),
                    "inbound": {"B": zlib.compress(pack(inbound))},
                },
                ConditionExpression="attribute_not_exists(sk) OR expires_at <= :now",
                ExpressionAttributeValues={":now": _number(now)},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except _ConditionFailed as failed:
            return Receipt.WAITING if "inbound" in failed.item else Receipt.DONE
        return Receipt.NEW

    async def claim(self, conversation: str, owner: str, until_ms: int) -> Head | None:
        """Who holds the lease, and until when, is part of the condition:

            a   claims ──── renews ─────────────> until_ms        its commit raises LeaseLost
            b          refused      refused          ·   claims ──────────────────────────────> until_ms
                                                     a may still write here: nobody else has begun

        A released lease keeps its owner's name and ends at 0, so that a repeated release is harmless.
        """
        try:
            answer = await self._call(
                self._client.update_item,
                TableName=self._table,
                Key=self._key(conversation, "HEAD"),
                UpdateExpression=(
                    "SET lease_owner = :owner, until_ms = :until,"
                    " last_seq = if_not_exists(last_seq, :zero), since_seq = if_not_exists(since_seq, :one)"
                ),
                ConditionExpression=(
                    "(attribute_not_exists(sk) OR until_ms <= :now OR lease_owner = :owner)"
                    " AND (attribute_not_exists(written_by) OR written_by <= :schema)"
                ),
                ExpressionAttributeValues={
                    ":owner": {"S": owner},
                    ":until": _number(until_ms),
                    ":now": _number(int(self._clock.now() * 1000)),
                    ":zero": _number(0),
                    ":one": _number(1),
                    ":schema": _number(SCHEMA),
                },
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except _ConditionFailed as failed:
            expect_known(conversation, _integer(failed.item, "written_by", SCHEMA))
            return None
        return _head(conversation, answer["Attributes"])

    async def renew(self, head: Head, until_ms: int) -> None:
        try:
            await self._call(
                self._client.update_item,
                TableName=self._table,
                Key=self._key(head.conversation, "HEAD"),
                UpdateExpression="SET until_ms = :until",
                ConditionExpression="lease_owner = :owner AND until_ms > :released",
                ExpressionAttributeValues={
                    ":owner": {"S": head.owner},
                    ":until": _number(until_ms),
                    ":released": _number(0),
                },
            )
        except _ConditionFailed as failed:
            raise lost(head) from failed

    async def commit(self, head: Head, change: Change) -> Head:
        """One transaction, or one plain update where only the head changes (half the price).

        Raises LookupError where a key to take or to finish was never received, and ValueError where the entries
        compress to more than a transaction carries; then nothing is stored. More answered messages than fit beside
        the rest are marked in transactions of their own before it: they belong to this turn already, so a cut in
        between answers nothing twice.
        """
        stored = after(head, change, int(self._clock.now()))
        added = [self._at_home(spend, head.conversation) for spend in change.spend]
        for borrows_left in reversed(range(BORROWS + 1)):
            try:
                await self._write(head, stored, change, added)
                break
            except BudgetExceeded as over:
                if self._shards_of(over.spend.counter) == 1 or not borrows_left:
                    raise
                others = [each for each in added if each.spend is not over.spend]
                added = [*others, *await self._borrowed(over.spend)]
        return stored

    async def _write(self, head: Head, stored: Head, change: Change, added: Sequence[_Added]) -> None:
        update_head = self._update_head(head, stored, change.release)
        spends = [self._add(each) for each in added]
        entries = [
            put
            for seq, entry in enumerate(change.entries, head.last + 1)
            for put in self._puts(head.conversation, _entry_key(seq), pack(entry))
        ]
        taken = [self._take(head.conversation, key) for key in dict.fromkeys(change.take) if key not in change.done]
        done = [self._finish(head.conversation, key) for key in dict.fromkeys(change.done)]
        room = TRANSACTION_ITEMS - 1 - len(spends) - len(entries) - len(taken)
        if room < 0:
            items = len(spends) + len(entries) + len(taken)
            raise ValueError(f"One step of {head.conversation!r} has {items} items; 99 fit.")
        await self._guarded(head, done[room:])
        try:
            if writes := [*spends, *entries, *taken, *done[:room]]:
                pauses = CROWD_PAUSES if spends else _CONFLICT_PAUSES
                await self._transact([{"Update": update_head}, *writes], pauses)
            else:
                await self._call(self._client.update_item, **update_head)
        except _ConditionFailed as failed:
            if 0 < failed.index <= len(spends):
                raise BudgetExceeded(added[failed.index - 1].spend) from failed
            raise _refusal(head, failed) from failed

    async def head(self, conversation: str) -> Head | None:
        answer = await self._call(
            self._client.get_item, TableName=self._table, Key=self._key(conversation, "HEAD"), ConsistentRead=True
        )
        return _head(conversation, answer["Item"]) if "Item" in answer else None

    async def inbox(self, conversation: str) -> list[Inbound]:
        """One query of one page, at most MOST_PENDING messages, and fewer where they are very long. If there are more,
        those to the bot come first, then the newest others."""
        answer = await self._call(
            self._client.query,
            TableName=self._table,
            IndexName="pending",
            KeyConditionExpression="pk = :pk AND pending < :expired",
            ExpressionAttributeValues={
                ":pk": self._pk(f"C#{conversation}"),
                ":expired": {"S": _passing(int(self._clock.now()))},
            },
            ConsistentRead=True,
            Limit=MOST_PENDING,
        )
        stored = (zlib.decompress(item["inbound"]["B"]) for item in answer["Items"])
        pending = (INBOUND.spared(data, conversation) for data in stored)
        return sorted(filter(None, pending), key=lambda inbound: inbound.key)

    async def record(self, conversation: str, since: int) -> list[Numbered]:
        """One range query, a page per megabyte.

        A query is not shielded from a transaction that ends meanwhile. Who holds the lease can not see that; for
        everybody else an entry is there when it is whole and all before it are there.
        """
        read = partial(ENTRY.spared, of=conversation)
        return await self._between(conversation, max(since, 1), _LAST_ENTRY, read)

    async def put_tool_run(self, conversation: str, run: ToolRun) -> bool:
        """A start is put only where nothing is; a result always, in one transaction where it needs several items.

        Where the client repeated a start whose answer was lost, the first one may be told False.
        """
        if run.result is None:
            return await self._held(
                self._client.put_item,
                Item={**self._key(conversation, _call_key(run.call)), "started": {"BOOL": True}},
                ConditionExpression="attribute_not_exists(sk)",
            )
        if len(puts := self._puts(conversation, _call_key(run.call), pack(run))) == 1:
            await self._call(self._client.put_item, **puts[0]["Put"])
        else:
            await self._transact(puts)
        return True

    async def tool_runs(self, conversation: str, calls: Sequence[str]) -> dict[str, ToolRun]:
        firsts = await self._get(conversation, (_call_key(call) for call in calls))
        rests = await self._get(conversation, (key for sk, item in firsts.items() for key in _rest_keys(sk, item)))
        stored = firsts | rests
        runs = {}
        for call in calls:
            sk = _call_key(call)
            if sk in firsts:
                data = _joined(stored, sk)
                runs[call] = ToolRun(call) if data is None else TOOL_RUN.read(data)
        return runs

    async def spent(self, counters: Sequence[Counter]) -> dict[Counter, Spent]:
        by_key = {
            self._counter_key(counter, shard)["pk"]["S"]: counter
            for counter in counters
            for shard in range(self._shards_of(counter))
        }
        spent: dict[Counter, Spent] = {}
        for item in await self._get_all([{"pk": {"S": pk}, "sk": {"S": "B"}} for pk in by_key]):
            counter, more = by_key[item["pk"]["S"]], _spent(item)
            before = spent.get(counter, Spent())
            spent[counter] = Spent(before.amount + more.amount, before.bill + more.bill)
        return spent

    async def knows(self, conversation: str) -> bool:
        """One read of one number: whoever may ask this need not be allowed to read anything else."""
        answer = await self._call(
            self._client.get_item,
            TableName=self._table,
            Key=self._key(conversation, "HEAD"),
            ProjectionExpression="last_seq",
            ConsistentRead=True,
        )
        return _integer(answer.get("Item", {}), "last_seq", 0) > 0

    async def profile(self, person: str) -> Profile:
        answer = await self._call(
            self._client.get_item, TableName=self._table, Key=self._alone("U", person), ConsistentRead=True
        )
        return PROFILE.read(answer["Item"]["profile"]["B"]) if "Item" in answer else Profile()

    async def profiles(self, people: Iterable[str]) -> dict[str, Profile]:
        keys = {person: self._alone("U", person) for person in people}
        found = {item["pk"]["S"]: PROFILE.read(item["profile"]["B"]) for item in await self._get_all([*keys.values()])}
        return {person: found.get(key["pk"]["S"], Profile()) for person, key in keys.items()}

    async def role(self, person: str) -> str:
        """Asks for one attribute, as ``knows`` does. One given by a version that did not write it is "" here."""
        answer = await self._call(
            self._client.get_item,
            TableName=self._table,
            Key=self._alone("U", person),
            ProjectionExpression="given_role",
            ConsistentRead=True,
        )
        return str(answer.get("Item", {}).get("given_role", {"S": ""})["S"])

    async def keep_profile(self, person: str, profile: Profile) -> bool:
        """Where the client repeated a put whose answer was lost, it may be told False of its own."""
        kept = replace(profile, version=profile.version + 1)
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if profile.version:
            values = {":before": _number(profile.version)}
            condition = {"ConditionExpression": "profile_version = :before", "ExpressionAttributeValues": values}
        role = {"given_role": {"S": kept.role}} if kept.role else {}
        stored = {"profile": {"B": pack(kept)}, "profile_version": _number(kept.version), **role}
        item = {**self._alone("U", person), **stored}
        return await self._held(self._client.put_item, Item=item, **condition)

    async def reminders(self, conversation: str) -> list[Reminder]:
        """Asks for one attribute: whoever may read this need not be allowed to read anything else."""
        pages = self._pages(conversation, "R#", "R$", ProjectionExpression="reminder")
        reminders = [REMINDER.read(item["reminder"]["B"]) async for page in pages for item in page]
        return sorted(reminders, key=lambda each: (each.at, each.id))[:MOST_REMINDERS]

    async def put_reminder(self, reminder: Reminder) -> None:
        conversation = reminder.place.conversation
        item = {
            **self._key(conversation, f"R#{reminder.id}"),
            "reminder": {"B": pack(reminder)},
            "due_shard": {"S": self._shard("R", conversation)},
            "received_at": _number(reminder.at),
        }
        await self._call(self._client.put_item, TableName=self._table, Item=item)

    async def delete_reminder(self, conversation: str, id: str) -> bool:
        """Where the client repeated a deletion whose answer was lost, it may be told False of its own."""
        answer = await self._call(
            self._client.delete_item,
            TableName=self._table,
            Key=self._key(conversation, f"R#{id}"),
            ReturnValues="ALL_OLD",
        )
        return "Attributes" in answer

    async def overdue_reminders(self, since: int, before: int) -> list[tuple[str, str, int]]:
        """Conversation, id and time of those whose time, in Unix seconds, lies between these two, for a sweep. As
        ``overdue``; one that is paused, or told already, may be among them."""
        between = {":since": _number(since), ":before": _number(before)}
        return [self._reminded(item) for item in await self._due("R", "BETWEEN :since AND :before", between)]

    async def kept(self, name: str) -> bytes | None:
        answer = await self._call(
            self._client.get_item, TableName=self._table, Key=self._alone("K", name), ConsistentRead=True
        )
        return bytes(answer["Item"]["kept"]["B"]) if "Item" in answer else None

    async def keep(self, name: str, data: bytes) -> None:
        """What nobody keeps again goes by itself."""
        item = {**self._alone("K", name), "kept": {"B": data}, "expires_at": _number(int(self._clock.now()) + KEPT)}
        await self._call(self._client.put_item, TableName=self._table, Item=item)

    async def installation(self, team: str) -> Installation | None:
        answer = await self._call(
            self._client.get_item, TableName=self._table, Key=self._alone("I", team), ConsistentRead=True
        )
        return INSTALLATION.read(answer["Item"]["installation"]["B"]) if "Item" in answer else None

    async def install(self, installation: Installation) -> None:
        """Asks for nothing that is stored: whoever may write this need not be allowed to read it."""
        condition = "attribute_not_exists(pk) OR installed_at <= :at"
        await self._put_installation(installation, condition, {":at": _number(installation.at)})

    async def change_installation(self, stamp: str, installation: Installation) -> bool:
        """Where the client repeated a put whose answer was lost, it may be told False of its own."""
        return await self._put_installation(installation, "stamp = :before", {":before": {"S": stamp}})

    async def _put_installation(self, installation: Installation, condition: str, values: Item) -> bool:
        item = {
            **self._alone("I", installation.team),
            "installation": {"B": pack(installation)},
            "stamp": {"S": installation.stamp},
            "installed_at": _number(installation.at),
        }
        return await self._held(
            self._client.put_item, Item=item, ConditionExpression=condition, ExpressionAttributeValues=values
        )

    async def uninstall(self, team: str, at: int) -> None:
        await self._held(
            self._client.delete_item,
            Key=self._alone("I", team),
            ConditionExpression="installed_at <= :at",
            ExpressionAttributeValues={":at": _number(at)},
        )

    async def first(self, name: str, until: int) -> bool:
        """Where the client repeated a put whose answer was lost, the first may be told False."""
        return await self._held(
            self._client.put_item,
            Item={**self._alone("O", name), "expires_at": _number(until)},
            ConditionExpression="attribute_not_exists(pk) OR expires_at <= :now",
            ExpressionAttributeValues={":now": _number(int(self._clock.now()))},
        )

    async def _held(self, operation: Callable[..., dict[str, Any]], **request: Any) -> bool:
        """Whether the condition of this write held, and it was done."""
        try:
            await self._call(operation, TableName=self._table, **request)
        except _ConditionFailed:
            return False
        return True

    async def entries(self, conversation: str, first: int, last: int) -> list[Numbered]:
        return await self._between(conversation, max(first, 1), f"{_entry_key(last)}#:") if first <= last else []

    async def _between(
        self, conversation: str, first: int, end: str, read: Callable[[bytes], Entry | None] = ENTRY.read
    ) -> list[Numbered]:
        pages = self._pages(conversation, _entry_key(first), end)
        items = {item["sk"]["S"]: item async for page in pages for item in page}
        return list(_entries(items, first, read))

    def every_conversation(self) -> AsyncIterator[str]:
        return self._scan("C", "HEAD")

    def every_profile(self) -> AsyncIterator[str]:
        return self._scan("U", "U")

    async def _scan(self, kind: str, sk: str) -> AsyncIterator[str]:
        """The names of this kind that have this sort key, in no order."""
        begins = self._pk(f"{kind}#")
        request = {
            "FilterExpression": "sk = :sk AND begins_with(pk, :begins)",
            "ProjectionExpression": "pk",
            "ExpressionAttributeValues": {":sk": {"S": sk}, ":begins": begins},
        }
        async for page in self._scanned(**request):
            for item in page:
                yield item["pk"]["S"].removeprefix(begins["S"])

    async def _scanned(self, **request: Any) -> AsyncIterator[list[Item]]:
        """All items, a page of a megabyte at a time."""
        request |= {"TableName": self._table, "ConsistentRead": True}
        while True:
            answer = await self._call(self._client.scan, **request)
            yield answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    async def upgraded(self, *, writes: bool) -> AsyncIterator[Upgraded]:
        """Each write holds only while the item is as it was read. A head of before uses were noted is used now."""
        async for page in self._scanned():
            for first in range(0, len(page), VALUES_AT_ONCE):
                some = filter(self._is_ours, page[first : first + VALUES_AT_ONCE])
                yield sum(await asyncio.gather(*(self._upgrade(item, writes=writes) for item in some)), Upgraded())

    async def _upgrade(self, item: Item, *, writes: bool) -> Upgraded:
        sk, done = item["sk"]["S"], Upgraded()
        for name, kind in _values_of(sk, item):
            try:
                data = await self._data(item, name)
                new = kind.renewed(data) if data is not None else None
            except (NewerSchema, DecodeError, zlib.error) as error:
                done += Upgraded(1, unreadable=(f"{item['pk']['S']} {sk}: {error}",))
                continue
            done += Upgraded(1, old=int(new is not None))
            if new is not None and writes:
                await self._replaced(item, name, new)
        if writes and self._is_unnoted(item):
            await self._note_use(item)
        return done

    async def _data(self, item: Item, name: str) -> bytes | None:
        """The JSON of this attribute; None where a part of it is gone meanwhile."""
        stored: bytes = item[name]["B"]
        if name == "inbound":
            return zlib.decompress(stored)
        if name != "zipped":
            return bytes(stored)
        sk = item["sk"]["S"]
        rest = await self._get(self._conversation(item), _rest_keys(sk, item)) if _rest_keys(sk, item) else {}
        return _joined({sk: item, **rest}, sk)

    async def _replaced(self, item: Item, name: str, new: bytes) -> None:
        """Somebody who writes or deletes it at this moment wins: what they write is of today's schema."""
        unchanged: dict[str, Any] = {"ConditionExpression": "#data = :old", "ExpressionAttributeNames": {"#data": name}}
        values = {":old": item[name]}
        sk = item["sk"]["S"]
        with suppress(_ConditionFailed):
            if name == "zipped":
                first, *rest = self._puts(self._conversation(item), sk, new)
                first["Put"] |= {**unchanged, "ExpressionAttributeValues": values}
                fewer = _rest_keys(sk, item)[len(rest) :]
                await self._transact([first, *rest, *self._deletes({**item, "sk": {"S": key}} for key in fewer)])
                return
            stored = zlib.compress(new) if name == "inbound" else new
            await self._call(
                self._client.update_item,
                TableName=self._table,
                Key={"pk": item["pk"], "sk": item["sk"]},
                UpdateExpression="SET #data = :new",
                **unchanged,
                ExpressionAttributeValues={**values, ":new": {"B": stored}},
            )

    async def _note_use(self, item: Item) -> None:
        now = int(self._clock.now())
        with suppress(_ConditionFailed):
            await self._call(
                self._client.update_item,
                TableName=self._table,
                Key={"pk": item["pk"], "sk": item["sk"]},
                UpdateExpression="SET due_shard = :shard, received_at = :used",
                ConditionExpression="attribute_exists(sk) AND attribute_not_exists(received_at)",
                ExpressionAttributeValues={
                    f":{name}": value for name, value in self._used(self._conversation(item), now).items()
                },
            )

    async def forget(self, head: Head) -> None:
        """Every write holds only while the lease does: a worker that was stalled deletes nothing of what came after.

            the window shrinks to the running turn ─> counters, tool runs, reminders, old tombstones and the record
            before it go, 99 items at a time ─> the turn's own entries go with the head, what it took is answered

        Cut anywhere, this leaves a whole conversation whose turn goes on and does it again. The tombstone of a message
        that may still be repeated stays its usual time, as whoever asked to be forgotten is not answered twice either;
        it holds no words.
        """
        conversation, now = head.conversation, int(self._clock.now())
        own, taken = (head.turn.first, head.turn.inbox) if head.turn is not None else (head.last + 1, ())
        old = {":old": _number(now + REMEMBERED - REPEATS)}
        await self._begin_window(head, own)
        counters = [self._counter_key(counter) for counter in counters_to_forget(conversation, now)]
        await self._guarded(head, self._deletes(await self._get_all(counters)))
        for pages in (
            self._keys(conversation, "R#", "T$"),
            self._keys(conversation, "IN#", "IN$", old, FilterExpression=_IS_OLD_TOMBSTONE),
            self._keys(conversation, "H#", f"{_entry_key(own - 1)}#:"),
        ):
            async for page in pages:
                await self._guarded(head, self._deletes(page))
        last = [self._finish(conversation, key) for key in dict.fromkeys(taken)]
        async for page in self._keys(conversation, _entry_key(own), _LAST_ENTRY):
            last += self._deletes(page)
        early = max(len(last) - (TRANSACTION_ITEMS - 1), 0)
        await self._guarded(head, last[:early])
        await self._fenced([{"Delete": self._guard(head)}, *last[early:]], head)

    async def overdue(self, before: int) -> list[str]:
        items = await self._due("", "< :before", {":before": _number(before)})
        return list(dict.fromkeys(self._conversation(item) for item in items))

    async def unused(self, before: int) -> list[str]:
        found = await self._due("U", "< :before", {":before": _number(before)})
        oldest = sorted(found, key=lambda item: _integer(item, "received_at", 0))
        return [self._conversation(item) for item in oldest]

    async def _due(self, kind: str, received: str, values: Item) -> list[Item]:
        """One query of one page for each shard of a kind ("R": reminders, "U": uses), oldest first."""
        found: list[Item] = []
        for shard in SHARDS:
            answer = await self._call(
                self._client.query,
                TableName=self._table,
                IndexName="due",
                KeyConditionExpression=f"due_shard = :shard AND received_at {received}",
                ExpressionAttributeValues={":shard": {"S": f"{self._prefix}{kind}{shard}"}, **values},
                Limit=MOST_OVERDUE,
            )
            found += answer["Items"]
        return found

    def _update_head(self, head: Head, stored: Head, release: bool) -> dict[str, Any]:
        """The one write that every step goes through."""
        assignments = ["last_seq = :last", "since_seq = :since", "written_by = :schema"]
        values = {
            **_fence(head),
            ":last": _number(stored.last),
            ":since": _number(stored.since),
            ":schema": _number(SCHEMA),
        }
        if stored.used != head.used:
            assignments += ["due_shard = :shard", "received_at = :used"]
            values |= {f":{name}": value for name, value in self._used(head.conversation, stored.used).items()}
        if release:
            assignments.append("until_ms = :released")
        if stored.settings != head.settings:
            assignments.append("settings = :settings")
            values[":settings"] = {"B": pack(stored.settings)}
        if stored.turn is not None:
            assignments.append("turn = :turn")
            values[":turn"] = {"B": pack(stored.turn)}
        return {
            "TableName": self._table,
            "Key": self._key(head.conversation, "HEAD"),
            "UpdateExpression": f"SET {', '.join(assignments)}{' REMOVE turn' if stored.turn is None else ''}",
            # A release by the client's own repeat, after its first answer was lost, finds the lease released.
            "ConditionExpression": _OURS if release else _OURS_AND_HELD,
            "ExpressionAttributeValues": values,
        }

    def _guard(self, head: Head) -> dict[str, Any]:
        return {
            "TableName": self._table,
            "Key": self._key(head.conversation, "HEAD"),
            "ConditionExpression": _OURS_AND_HELD,
            "ExpressionAttributeValues": _fence(head),
        }

    async def _begin_window(self, head: Head, since: int) -> None:
        guard = self._guard(head)
        values = {**guard.pop("ExpressionAttributeValues"), ":since": _number(since)}
        try:
            await self._call(
                self._client.update_item,
                **guard,
                UpdateExpression="SET since_seq = :since",
                ExpressionAttributeValues=values,
            )
        except _ConditionFailed as failed:
            raise lost(head) from failed

    async def _guarded(self, head: Head, writes: Sequence[dict[str, Any]]) -> None:
        """Writes that need not be one step, as many at a time as fit, each only while the lease holds."""
        for first in range(0, len(writes), TRANSACTION_ITEMS - 1):
            some = writes[first : first + TRANSACTION_ITEMS - 1]
            await self._fenced([{"ConditionCheck": self._guard(head)}, *some], head)

    async def _fenced(self, writes: list[dict[str, Any]], head: Head) -> None:
        """One transaction, whose first item holds only while the lease does, the others where they settle messages."""
        try:
            await self._transact(writes)
        except _ConditionFailed as failed:
            raise _refusal(head, failed) from failed

    def _deletes(self, items: Iterable[Item]) -> list[dict[str, Any]]:
        return [{"Delete": {"TableName": self._table, "Key": {"pk": item["pk"], "sk": item["sk"]}}} for item in items]

    def _take(self, conversation: str, key: str) -> dict[str, Any]:
        # What a turn took no longer passes by itself.
        return self._settle(conversation, key, UpdateExpression="REMOVE pending, expires_at")

    def _finish(self, conversation: str, key: str) -> dict[str, Any]:
        return self._settle(
            conversation,
            key,
            UpdateExpression="SET expires_at = :expires REMOVE pending, inbound, due_shard, received_at",
            ExpressionAttributeValues={":expires": _number(int(self._clock.now()) + REMEMBERED)},
        )

    def _settle(self, conversation: str, key: str, **update: Any) -> dict[str, Any]:
        # Without the condition, an update would make an item of its own for an unknown key, and swallow that message.
        target = {"TableName": self._table, "Key": self._key(conversation, f"IN#{key}")}
        return {"Update": {**target, "ConditionExpression": "attribute_exists(sk)", **update}}

    def _puts(self, conversation: str, sk: str, data: bytes) -> list[dict[str, Any]]:
        """The writes that store ``data``: one item, and more behind it where it is large."""
        zipped = zlib.compress(data)
        first, *rest = [zipped[start : start + CHUNK] for start in range(0, len(zipped), CHUNK)]
        items = [{**self._key(conversation, sk), "zipped": {"B": first}, "chunks": _number(1 + len(rest))}]
        items += [
            {**self._key(conversation, _chunk_key(sk, number)), "zipped": {"B": chunk}}
            for number, chunk in enumerate(rest, 1)
        ]
        return [{"Put": {"TableName": self._table, "Item": item}} for item in items]

    def _shards_of(self, counter: Counter) -> int:
        return self._shards if counter.scope == EVERYBODY else 1

    def _at_home(self, spend: Spend, conversation: str) -> _Added:
        """All of it in the one shard that this conversation adds to, within that one's share of the limit."""
        shards = self._shards_of(spend.counter)
        home = _home(conversation, shards)
        limit = None if spend.limit is None else share(spend.limit, shards, home)
        return _Added(spend, home, spend.amount, limit, spend.bill)

    async def _borrowed(self, spend: Spend) -> list[_Added]:
        """The same from where room is left. Raises BudgetExceeded where all shards together have none."""
        shards, limit = self._shards_of(spend.counter), spend.limit or 0
        keys = [self._counter_key(spend.counter, shard) for shard in range(shards)]
        found = {item["pk"]["S"]: _spent(item).amount for item in await self._get_all(keys)}
        parts = spread(spend.amount, limit, [found.get(key["pk"]["S"], 0) for key in keys])
        if not parts:
            raise BudgetExceeded(spend)
        bills = (spend.bill, *[Bill()] * (len(parts) - 1))
        return [
            _Added(spend, shard, part, share(limit, shards, shard), bill)
            for (shard, part), bill in zip(parts, bills, strict=True)
        ]

    def _add(self, added: _Added) -> dict[str, Any]:
        numbers = {"amount": added.amount, **{name: getattr(added.bill, name) for name in Bill.__struct_fields__}}
        numbers = {name: number for name, number in numbers.items() if number or name == "amount"}
        update: dict[str, Any] = {
            "TableName": self._table,
            "Key": self._counter_key(added.spend.counter, added.shard),
            "UpdateExpression": f"SET expires_at = :expires ADD {', '.join(f'#{name} :{name}' for name in numbers)}",
            "ExpressionAttributeNames": {f"#{name}": name for name in numbers},  # some are words of the language
            "ExpressionAttributeValues": {
                ":expires": _number(int(self._clock.now()) + added.spend.keep),
                **{f":{name}": _number(number) for name, number in numbers.items()},
            },
        }
        if added.limit is not None:
            # A counter that is not there yet has no amount that a condition could look at.
            fits = "attribute_not_exists(#amount) OR " if added.amount <= added.limit else ""
            update["ConditionExpression"] = f"{fits}#amount <= :room"
            update["ExpressionAttributeValues"][":room"] = _number(added.limit - added.amount)
        return {"Update": update}

    def _pk(self, name: str) -> dict[str, Any]:
        return {"S": f"{self._prefix}{name}"}

    def _key(self, conversation: str, sk: str) -> Item:
        return {"pk": self._pk(f"C#{conversation}"), "sk": {"S": sk}}

    def _counter_key(self, counter: Counter, shard: int = 0) -> Item:
        return {"pk": self._pk(f"B#{counter.scope}#{counter.period}{f'#{shard}' if shard else ''}"), "sk": {"S": "B"}}

    def _alone(self, kind: str, name: str) -> Item:
        """The key of what is an item of its own: a person (U), what is kept (K), an installation (I), what was asked
        once (O)."""
        return {"pk": self._pk(f"{kind}#{name}"), "sk": {"S": kind}}

    def _shard(self, kind: str, conversation: str) -> str:
        return f"{self._prefix}{kind}{SHARDS[_home(conversation, len(SHARDS))]}"

    def _conversation(self, item: Item) -> str:
        return str(item["pk"]["S"]).removeprefix(f"{self._prefix}C#")

    def _is_ours(self, item: Item) -> bool:
        """Other bots may share the table; each kind is one letter."""
        pk: str = item["pk"]["S"]
        return pk.startswith(self._prefix) and pk[len(self._prefix) + 1 :].startswith("#")

    def _is_unnoted(self, item: Item) -> bool:
        is_head = item["sk"]["S"] == "HEAD" and "received_at" not in item
        return is_head and not is_nested(self._conversation(item))

    def _used(self, conversation: str, at: int) -> Item:
        """What a head has in the index, by the names of its values in an update."""
        return {"shard": {"S": self._shard("U", conversation)}, "used": _number(at)}

    def _reminded(self, item: Item) -> tuple[str, str, int]:
        return self._conversation(item), item["sk"]["S"].removeprefix("R#"), int(item["received_at"]["N"])

    def _waiting(self, inbound: Inbound, now: int) -> Item:
        """The state of a message that has just come."""
        if (expires := passes_at(inbound, now)) is not None:
            return {"pending": {"S": f"{_passing(expires)}#{inbound.key}"}, "expires_at": _number(expires)}
        shard = {"due_shard": {"S": self._shard("", inbound.conversation)}, "received_at": _number(now)}
        return {"pending": {"S": inbound.key}, **shard}

    async def _transact(self, writes: list[dict[str, Any]], pauses: Sequence[float] = _CONFLICT_PAUSES) -> None:
        size = sum(len(write["Put"]["Item"].get("zipped", {}).get("B", b"")) for write in writes if "Put" in write)
        if size > TRANSACTION_BYTES:
            raise ValueError(f"One step is {size} bytes compressed; {TRANSACTION_BYTES} fit. Large blocks go to blobs.")
        await self._call(self._client.transact_write_items, pauses, TransactItems=writes)

    async def _pages(
        self, conversation: str, first: str, end: str, values: Item | None = None, **request: Any
    ) -> AsyncIterator[list[Item]]:
        """The items between two sort keys, in order, a page per megabyte."""
        request |= {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :end",
            "ExpressionAttributeValues": {
                ":pk": self._pk(f"C#{conversation}"),
                ":first": {"S": first},
                ":end": {"S": end},
                **(values or {}),
            },
            "ConsistentRead": True,
        }
        while True:
            answer = await self._call(self._client.query, **request)
            yield answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _keys(
        self, conversation: str, first: str, end: str, values: Item | None = None, **request: Any
    ) -> AsyncIterator[list[Item]]:
        """The same, but of each item only its key."""
        return self._pages(conversation, first, end, values, ProjectionExpression="pk, sk", **request)

    async def _get(self, conversation: str, keys: Iterable[str]) -> dict[str, Item]:
        """The items that are there, by their sort key."""
        items = await self._get_all([self._key(conversation, sk) for sk in dict.fromkeys(keys)])
        return {item["sk"]["S"]: item for item in items}

    async def _get_all(self, wanted: list[Item]) -> list[Item]:
        """The items that are there of these keys, in any order."""
        items: list[Item] = []
        while wanted:
            batch, wanted = wanted[:BATCH_KEYS], wanted[BATCH_KEYS:]
            answer = await self._call(
                self._client.batch_get_item,
                RequestItems={self._table: {"Keys": batch, "ConsistentRead": True}},
            )
            found = answer["Responses"].get(self._table, [])
            items += found
            left = answer["UnprocessedKeys"].get(self._table, {}).get("Keys", [])
            if left and not found:
                raise StoreUnavailable("DynamoDB gave none of the items asked for: it is overloaded.")
            wanted = left + wanted  # an answer ends at 16 MB
        return items

    async def _call(
        self, operation: Callable[..., dict[str, Any]], pauses: Sequence[float] = _CONFLICT_PAUSES, **request: Any
    ) -> dict[str, Any]:
        """One API call off the event loop, its failure in our own words, repeated only after a conflict."""
        for pause in pauses:
            try:
                return await asyncio.to_thread(_translated, operation, request)
            except _Conflict:
                await self._clock.sleep(pause * random.uniform(2 / 3, 4 / 3))  # noqa: S311 - no secret
        return await asyncio.to_thread(_translated, operation, request)


def _translated(operation: Callable[..., dict[str, Any]], request: dict[str, Any]) -> dict[str, Any]:
    """Errors that are left as they are mean a fault of ours: a request that can never succeed."""
    try:
        return operation(**request)
    except ClientError as error:
        meaning = _meaning(error.response, str(error))
        if meaning is None:
            raise
        raise meaning from error
    except NoCredentialsError as error:
        raise ConfigError(f"DynamoDB can not be used: {error}") from error
    except (HTTPClientError, ConnectionError, CredentialRetrievalError) as error:
        raise StoreUnavailable(f"DynamoDB did not answer: {error}") from error


def _meaning(response: dict[str, Any], text: str) -> Exception | None:
    code = response["Error"]["Code"]
    if code == "ConditionalCheckFailedException":
        return _ConditionFailed(response.get("Item", {}))
    if code == "TransactionCanceledException":
        return _cancellation(response["CancellationReasons"], text)
    if code in _CONFLICT:
        return _Conflict(text)
    if code in _OVERLOADED or response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
        return StoreUnavailable(text)
    if code in _NOT_SET_UP:
        return ConfigError(f"The DynamoDB table can not be used, check its name, region and permissions: {text}")
    return None


def _cancellation(reasons: list[dict[str, Any]], text: str) -> Exception | None:
    """One reason per item, in their order. A failed condition says most; next come reasons that pass by themselves."""
    for index, reason in enumerate(reasons):
        if reason["Code"] == "ConditionalCheckFailed":
            return _ConditionFailed(reason.get("Item", {}), index)
    codes = {reason["Code"] for reason in reasons} - {"None"}
    if codes <= _CONFLICT:
        return _Conflict(text)
    if codes <= _CONFLICT | _OVERLOADED:
        return StoreUnavailable(text)
    return None


def _refusal(head: Head, failed: _ConditionFailed) -> Exception:
    if failed.index:
        return LookupError(f"A message to settle was never received in {head.conversation!r}.")
    return lost(head)


def _passing(at: int) -> str:
    """Sorts behind all that is to the bot, as a platform's order begins with a digit; what passes later comes first."""
    return f"~{10**12 - at:012d}"


def _fence(head: Head) -> Item:
    return {":owner": {"S": head.owner}, ":before": _number(head.last), ":released": _number(0)}


def _home(conversation: str, shards: int) -> int:
    return zlib.crc32(conversation.encode()) % shards


def _spent(item: Item) -> Spent:
    bill = {name: int(item[name]["N"]) for name in Bill.__struct_fields__ if name in item}
    return Spent(int(item["amount"]["N"]), Bill(**bill))


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}


def _integer(item: Item, name: str, default: int) -> int:
    return int(item[name]["N"]) if name in item else default


def _values_of(sk: str, item: Item) -> Iterator[tuple[str, Kind[Any]]]:
    """The attributes of this item that hold stored values; a chunk is a part of one."""
    for begins, name, kind in _VALUES:
        if sk.startswith(begins) and name in item and (name != "zipped" or "chunks" in item):
            yield name, kind


def _entry_key(seq: int) -> str:
    return f"H#{seq:012d}"


def _call_key(call: str) -> str:
    """Tool_use ids are ``[A-Za-z0-9_-]+``, so a chunk's key is never another call's."""
    return f"T#{call}"


def _chunk_key(sk: str, number: int) -> str:
    return f"{sk}#{number:03d}"


def _rest_keys(sk: str, item: Item) -> list[str]:
    chunks = int(item["chunks"]["N"]) if "chunks" in item else 0
    return [_chunk_key(sk, number) for number in range(1, chunks)]


def _joined(items: dict[str, Item], sk: str) -> bytes | None:
    """The data stored under ``sk``, or None where it, or a chunk of it, is not there."""
    item = items.get(sk, {})
    if "zipped" not in item:
        return None
    if "chunks" not in item:
        return zlib.decompress(item["zipped"]["B"])
    chunks = [items.get(key) for key in (sk, *_rest_keys(sk, item))]
    whole = [chunk["zipped"]["B"] for chunk in chunks if chunk is not None]
    return zlib.decompress(b"".join(whole)) if len(whole) == len(chunks) else None


def _entries(items: dict[str, Item], since: int, read: Callable[[bytes], Entry | None]) -> Iterator[Numbered]:
    seq = since
    while (data := _joined(items, _entry_key(seq))) is not None:
        if (entry := read(data)) is not None:
            yield Numbered(seq, entry)
        seq += 1


def _head(conversation: str, item: Item) -> Head:
    return Head(
        conversation=conversation,
        owner=item["lease_owner"]["S"],
        until_ms=int(item["until_ms"]["N"]),
        last=int(item["last_seq"]["N"]),
        since=int(item["since_seq"]["N"]),
        turn=TURN.read(item["turn"]["B"]) if "turn" in item else None,
        settings=SETTINGS.read(item["settings"]["B"]) if "settings" in item else ChatSettings(),
        used=_integer(item, "received_at", 0),
    )
