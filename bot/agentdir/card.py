"""``agent/card.json``: what other agents are told this one is and can do. Without it they are told little.

    {"name": "Warung", "description": "Answers questions about our stock and prices.",
     "skills": [{"id": "stock", "name": "Stock", "description": "What there is, and for how much.",
                 "tags": ["shop"], "examples": ["How many kilos of rice are left?"]}]}

Nothing else of the folder is shown to strangers: not the instructions, not the names of tools.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from bot.agentdir.documents import Fault, as_json, fitted, text_of

FILE = "card.json"

Words = Annotated[str, Meta(min_length=1, max_length=1_000)]


class Skill(Struct, frozen=True, forbid_unknown_fields=True):
    id: Words
    name: Words
    description: Words
    tags: tuple[Words, ...] = ("assistant",)
    examples: tuple[Words, ...] = ()


CONVERSATION = Skill(
    "conversation",
    "Conversation",
    "Answers questions and does what it has tools for; asks before it does what can not be undone.",
    ("assistant", "questions"),
    ("Summarise the file I send along.", "What is 17 % of 2,340?"),
)


class Card(Struct, frozen=True, forbid_unknown_fields=True):
    name: Words = "Kabar"
    description: Words = "An AI agent that answers questions, reads files and looks things up."
    skills: Annotated[tuple[Skill, ...], Meta(min_length=1, max_length=50)] = (CONVERSATION,)


def read_card(folder: Path) -> tuple[Card, list[Fault]]:
    """The owner's card; the usual one where there is none or it is faulty."""
    if not (folder / FILE).is_file():
        return Card(), []
    text = text_of(folder, FILE)
    document = as_json(text, FILE) if isinstance(text, str) else text
    if isinstance(document, Fault):
        return Card(), [document]
    card = fitted(document, Card)
    if isinstance(card, Fault):
        return Card(), [card]
    faults, seen = [], set[str]()
    for number, skill in enumerate(card.skills):
        if skill.id in seen:
            faults.append(document.fault(f"There are two skills with the id {skill.id!r}.", f".skills[{number}].id"))
        seen.add(skill.id)
    return (Card(), faults) if faults else (card, [])
