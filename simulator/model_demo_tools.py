"""What the demo model calls tools for: each is asked for in plain words, English or Indonesian."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.model_rules import Json

Made = Callable[[re.Match[str]], Json]

PLOT = """\
from PIL import Image, ImageDraw

costs = {"Train": 190, "Jeep": 650, "Hotel": 420}
image = Image.new("RGB", (640, 400), "white")
draw = ImageDraw.Draw(image)
style = {"fill": "black", "anchor": "mm", "font_size": 22}
draw.text((320, 30), "Costs in 1000 rupiah", **style)
for number, (name, cost) in enumerate(costs.items()):
    x, y = 130 + 190 * number, 350 - cost * 0.4
    draw.rectangle((x - 60, y, x + 60, 350), "steelblue")
    draw.text((x, y - 16), str(cost), **style)
    draw.text((x, 372), name, **style)
image.save("costs.png")
print("total:", sum(costs.values()))
"""
"""With Pillow: the one library for pictures that is wherever scripts run."""

PACKING = """\
what,how many
warm jacket,1
torch,1
snacks,3
"""
UNITS = {"menit": "minutes", "jam": "hours", "hari": "days", "minggu": "weeks"}
CLOCK, PLACE = r"(\d\d:\d\d)", r"([\w+-]+/[\w+-]+)"
BERKAS = r"(?:berkas|file)"
FILE = r"([\w-][\w .-]*\.\w{1,5})"


@dataclass(frozen=True)
class Trick:
    """A tool, the words that ask for it, and what it is called with."""

    tool: str
    asked: re.Pattern[str]
    made: Made


def _trick(tool: str, english: str, indonesian: str, made: Made) -> Trick:
    return Trick(tool, re.compile(rf"(?:{english})|(?:{indonesian})", re.IGNORECASE), made)


def _one(name: str) -> Made:
    """The one thing that was named, in whichever language."""
    return lambda found: {name: _named(found)}


def _named(found: re.Match[str]) -> str:
    return next((group.strip(" .!?\"'") for group in found.groups() if group), "")


def _reminder(found: re.Match[str]) -> Json:
    number, unit = found["in"] or found["lagi"], (found["unit"] or found["satuan"]).lower()
    what = (found["what"] or found["apa"] or "").strip(" .!?") or "the time is up"
    return {"text": what, "when": f"in {number} {UNITS.get(unit, unit)}"}


def _tomorrow(found: re.Match[str]) -> Json:
    """By this machine's date: whoever tries the demo sits before it."""
    clock = f"{int(found['at'] or found['pukul']):02d}:{found['past'] or found['lewat'] or '00'}"
    what = (found["what"] or found["apa"] or "").strip(" .!?") or "the time is up"
    return {"text": what, "when": f"{date.today() + timedelta(days=1)}T{clock}"}


def _clocks(found: re.Match[str]) -> Json:
    """Of the MCP server mcp-server-time, under the name "time"."""
    time, source, target = (group for group in found.groups() if group)
    return {"source_timezone": source, "time": time, "target_timezone": target}


def _research(found: re.Match[str]) -> Json:
    """The task is in words that ask the one who gets it, this model again, for a search."""
    what = _named(found)
    return {"agent": "researcher", "task": f"search for {what}" if found["en"] else f"cari {what} di web"}


TRICKS = (
    _trick(
        "remind",
        r"\bremind me in (?P<in>\d+) (?P<unit>minutes?|hours?|days?|weeks?)(?: (?:to|that|about) (?P<what>.+))?",
        r"\bingatkan (?:saya|aku) (?P<lagi>\d+) (?P<satuan>menit|jam|hari|minggu) lagi(?: (?:untuk )?(?P<apa>.+))?",
        _reminder,
    ),
    _trick(
        "remind",
        r"\bremind me tomorrow at (?P<at>\d\d?)(?::(?P<past>\d\d))?(?: (?:to|that|about) (?P<what>.+))?",
        r"\bingatkan (?:saya|aku) besok (?:jam|pukul) (?P<pukul>\d\d?)(?:[.:](?P<lewat>\d\d))?"
        r"(?: (?:untuk )?(?P<apa>.+))?",
        _tomorrow,
    ),
    _trick(
        "list_reminders", r"\b(?:my|list|which) reminders", r"\bpengingat saya|\bdaftar pengingat", lambda found: {}
    ),
    _trick("cancel_reminder", r"\bcancel reminder (\w+)", r"\bbatalkan pengingat (\w+)", _one("id")),
    _trick("set_time_zone", r"\btime ?zone (?:is|to) ([\w/+-]+)", r"\bzona waktu (?:saya )?([\w/+-]+)", _one("zone")),
    _trick("remember", r"\bremember (?:that )?(.+)", r"\bingat(?:lah)?(?: bahwa)? (.+)", _one("fact")),
    _trick("forget_fact", r"\bforget (?:that |about )?(.+)", r"\blupakan (.+)", _one("fact")),
    _trick("web_fetch", r"\b(?:open|fetch|read) (https?://\S+)", r"\b(?:buka|baca) (https?://\S+)", _one("url")),
    _trick(
        "search_files",
        r"\b(?:find|search) (.+?) in (?:my|the) files",
        rf"\bcari (.+?) di {BERKAS}",
        _one("words"),
    ),
    _trick("delegate", r"\bresearch (?P<en>.+)", r"\btelusuri (?P<id>.+)", _research),
    _trick(
        "time_convert_time",
        rf"\bconvert {CLOCK} from {PLACE} to {PLACE}",
        rf"\bubah {CLOCK} {PLACE} ke {PLACE}",
        _clocks,
    ),
    _trick(
        "web_search",
        r"\b(?:search|look) (?:the web |online )?for (.+)",
        r"\bcari(?:kan)? (.+?) di (?:web|internet)",
        _one("query"),
    ),
    _trick(
        "list_files",
        r"\b(?:list|what|which|my) files",
        rf"\bdaftar {BERKAS}|\b{BERKAS} apa",
        lambda found: {},
    ),
    _trick(
        "skill",
        r"\bsum(?:marise|marize| up) (?:this|the) (?:thread|chat|conversation)",
        r"\b(?:rangkum|ringkas)(?:kan)? (?:utas|obrolan|percakapan)",
        lambda found: {"name": "summarise-thread"},
    ),
    _trick(
        "write_file",
        r"\b(?:write|make|create) (?:me )?a file",
        rf"\bbuat(?:kan)? (?:sebuah )?{BERKAS}",
        lambda found: {"name": "packing.csv", "content": PACKING},
    ),
    _trick("send_file", rf"\bsend (?:me )?{FILE}", rf"\bkirim(?:kan)? {FILE}", _one("name")),
    _trick("read_file", rf"\bread {FILE}", rf"\bbaca {FILE}", _one("name")),
    _trick("run_python", r"\b(?:plot|chart|python)\b", r"\bgrafik\b", lambda found: {"code": PLOT}),
)
"""The first that fits counts."""


def called(words: str, schemas: Mapping[str, Json]) -> tuple[str, Json] | None:
    """The tool that the words ask for and its arguments; None where they ask for none of those offered.

    ``schemas`` are the offered tools' input schemas by name. Arguments a schema does not have are left out; a tool that
    needs more than we know how to give is not called.
    """
    for trick in TRICKS:
        found = trick.asked.search(words) if trick.tool in schemas else None
        if found and (arguments := _fitting(trick.made(found), schemas[trick.tool])) is not None:
            return trick.tool, arguments
    return None


def _fitting(arguments: Json, schema: Json) -> Json | None:
    known = {name: value for name, value in arguments.items() if name in schema.get("properties", {})}
    needed: Sequence[str] = schema.get("required", ())
    return known if all(known.get(name) for name in needed) else None
