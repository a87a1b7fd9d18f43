"""What DynamoDB counts for a request, by its published rules, from the request and its answer.

The emulator counts a table's writes so, but a query by its number and not by its size, and in a transaction no index.
Source: docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
"""

import base64
import math
from typing import Any

Json = dict[str, Any]

READ_UNIT, WRITE_UNIT = 4_096, 1_024
"""Bytes of one unit. An eventually consistent read costs half of one, a write in a transaction two."""
READS = ("GetItem", "BatchGetItem", "Query", "Scan")
INDEXED = ("pending", "due_shard")
"""The attributes that keep an item in one of the table's indexes; taking one away is a write to that index."""


def item_bytes(item: Json) -> int:
    """An item's size: its attributes' names and values."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Json) -> int:
    [(kind, held)] = value.items()
    match kind:
        case "S":
            return len(held.encode())
        case "N":
            return len(held) // 2 + 1
        case "B":
            return len(base64.b64decode(held))
    return 1


def read_units(operation: str, request: Json, answer: Json) -> float:
    """Of one read. What it found is rounded up together in a query, one by one in a batch; to find nothing costs one.

    A projection saves nothing on AWS: the items it was taken of are read whole. Ours are of heads, and of reminders in
    a sweep, all below one unit.
    """
    match operation:
        case "GetItem":
            return _read(item_bytes(answer.get("Item", {}))) * _share(request)
        case "BatchGetItem":
            [(table, asked)] = request["RequestItems"].items()
            found = [_read(item_bytes(item)) for item in answer["Responses"].get(table, [])]
            return (sum(found) + len(asked["Keys"]) - len(found)) * _share(asked)
        case "Query" | "Scan":
            return _read(sum(map(item_bytes, answer["Items"]))) * _share(request)
    return 0.0


def _read(size: int) -> int:
    return max(math.ceil(size / READ_UNIT), 1)


def _share(request: Json) -> float:
    return 1.0 if request.get("ConsistentRead") else 0.5


def write_units(operation: str, request: Json, answer: Json) -> float:
    """Of one write: what the answer says was consumed, and for a transaction the writes to the indexes beside it, each
    of an item that is below one unit. A write whose condition failed costs one unit, as its answer does not say."""
    if operation in READS:
        return 0.0
    consumed = answer.get("ConsumedCapacity", {"CapacityUnits": 1.0})
    units = sum(float(each["CapacityUnits"]) for each in (consumed if isinstance(consumed, list) else [consumed]))
    return units + sum(_left_indexes(write) for write in request.get("TransactItems", []))


def _left_indexes(write: Json) -> int:
    _, _, removed = write.get("Update", {}).get("UpdateExpression", "").partition("REMOVE ")
    return len(set(removed.replace(",", " ").split()) & set(INDEXED))
