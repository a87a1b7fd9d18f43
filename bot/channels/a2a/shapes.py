"""Tasks, pieces of them, and the card in the SDK's own types. Pure."""

import hashlib

from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from bot.agentdir.card import Card
from bot.channels.a2a.render import Task
from bot.version import VERSION

STATES = {
    "submitted": wire.TASK_STATE_SUBMITTED,
    "working": wire.TASK_STATE_WORKING,
    "input-required": wire.TASK_STATE_INPUT_REQUIRED,
    "completed": wire.TASK_STATE_COMPLETED,
    "canceled": wire.TASK_STATE_CANCELED,
    "failed": wire.TASK_STATE_FAILED,
    "rejected": wire.TASK_STATE_REJECTED,
}


def task_of(task: Task, files: tuple[wire.Part, ...], *, whole: bool = True) -> wire.Task:
    parts = [*([wire.Part(text=task.text)] if task.text else ()), *files]
    return wire.Task(
        id=str(task.id),
        context_id=task.id.context,
        status=status_of(task),
        artifacts=[_artifact(parts)] if parts and whole else [],
        history=[
            wire.Message(
                message_id=each.native_id,
                role=wire.ROLE_USER,
                parts=[wire.Part(text=each.words)],
                task_id=str(task.id),
                context_id=task.id.context,
            )
            for each in task.said
            if each.native_id
        ],
    )


def status_of(task: Task) -> wire.TaskStatus:
    if not task.note:
        return wire.TaskStatus(state=STATES[task.state])
    parts = [wire.Part(text=task.note)]
    if task.call:
        asked_for = {"tool": task.call["name"], "arguments": task.call["input"], "answer": ["yes", "no"]}
        parts.append(wire.Part(data=ParseDict(asked_for, Value())))
    message = wire.Message(
        message_id=hashlib.sha256(f"{task.id} {task.note}".encode()).hexdigest()[:20],
        role=wire.ROLE_AGENT,
        parts=parts,
        task_id=str(task.id),
        context_id=task.id.context,
    )
    return wire.TaskStatus(state=STATES[task.state], message=message)


def _artifact(parts: list[wire.Part]) -> wire.Artifact:
    return wire.Artifact(artifact_id="answer", name="answer", parts=parts)


def piece_of(task: Task, before: str, is_last: bool) -> wire.TaskArtifactUpdateEvent:
    """What is new of the text, or all of it where it changed before its end."""
    goes_on = bool(before) and task.text.startswith(before)
    return wire.TaskArtifactUpdateEvent(
        task_id=str(task.id),
        context_id=task.id.context,
        artifact=_artifact([wire.Part(text=task.text[len(before) :] if goes_on else task.text)]),
        append=goes_on,
        last_chunk=is_last and not task.files,
    )


def files_piece_of(task: Task, files: tuple[wire.Part, ...]) -> wire.TaskArtifactUpdateEvent:
    return wire.TaskArtifactUpdateEvent(
        task_id=str(task.id),
        context_id=task.id.context,
        artifact=_artifact([*files]),
        append=bool(task.text),
        last_chunk=True,
    )


def status_update_of(task: Task) -> wire.TaskStatusUpdateEvent:
    return wire.TaskStatusUpdateEvent(task_id=str(task.id), context_id=task.id.context, status=status_of(task))


def card_of(card: Card, url: str, *, streams: bool) -> wire.AgentCard:
    """What anybody may know. ``url`` is the address of its JSON-RPC."""
    bearer = wire.HTTPAuthSecurityScheme(scheme="bearer", description="A key of your own, which the owner gives you.")
    return wire.AgentCard(
        name=card.name,
        description=card.description,
        version=VERSION,
        supported_interfaces=[
            wire.AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
        capabilities=wire.AgentCapabilities(streaming=streams, push_notifications=False),
        security_schemes={"key": wire.SecurityScheme(http_auth_security_scheme=bearer)},
        security_requirements=[wire.SecurityRequirement(schemes={"key": wire.StringList()})],
        default_input_modes=["text/plain", "application/json", "application/octet-stream"],
        default_output_modes=["text/plain", "application/octet-stream"],
        skills=[
            wire.AgentSkill(
                id=skill.id,
                name=skill.name,
                description=skill.description,
                tags=skill.tags,
                examples=skill.examples,
            )
            for skill in card.skills
        ],
    )
