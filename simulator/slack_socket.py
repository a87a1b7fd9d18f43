"""Socket Mode: the bot opens a websocket and acknowledges each envelope on it."""

import asyncio
import json
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from simulator.deliver import Outcome
from simulator.slack import APP, Slack
from simulator.world import Json


async def accept_socket(slack: Slack, websocket: WebSocket) -> None:
    """One connection from its hello to its end. An address from apps.connections.open is good for one connection."""
    ticket = websocket.query_params.get("ticket", "")
    if ticket not in slack.tickets:
        await websocket.close(1008)
        return
    slack.tickets.discard(ticket)
    await websocket.accept()
    connection = _Connection(websocket)
    slack.events.sockets.append(connection)
    slack.world.set_bot("connected")
    try:
        await websocket.send_json(_hello(len(slack.events.sockets)))
        await connection.listen()
    finally:
        slack.events.sockets.remove(connection)
        connection.give_up()


def _hello(connections: int) -> Json:
    debug = {"host": "simulator", "build_number": 1, "approximate_connection_time": 18060}
    return {
        "type": "hello",
        "num_connections": connections,
        "debug_info": debug,
        "connection_info": {"app_id": APP},
    }


class _Connection:
    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self._asked: dict[str, asyncio.Future[Outcome]] = {}

    async def ask(self, envelope: Json, timeout: float) -> Outcome:
        """Send an envelope and wait for its acknowledgement."""
        reply = asyncio.get_running_loop().create_future()
        self._asked[envelope["envelope_id"]] = reply
        try:
            await self._websocket.send_json(envelope)
            return await asyncio.wait_for(reply, timeout)
        except TimeoutError:
            return Outcome(0, reason="http_timeout")
        except (WebSocketDisconnect, RuntimeError):  # RuntimeError: Starlette's word for a socket closed by us
            return Outcome(0, reason="connection_failed")
        finally:
            del self._asked[envelope["envelope_id"]]

    async def listen(self) -> None:
        with suppress(WebSocketDisconnect):
            while True:
                self._hear(await self._websocket.receive_text())

    def _hear(self, text: str) -> None:
        with suppress(ValueError, TypeError, KeyError):
            said = json.loads(text)
            reply = self._asked.get(said["envelope_id"])
            if reply and not reply.done():
                reply.set_result(Outcome(200, json.dumps(said.get("payload")).encode()))

    def give_up(self) -> None:
        """The connection is gone: whoever waits for an acknowledgement hears so at once."""
        for reply in self._asked.values():
            if not reply.done():
                reply.set_result(Outcome(0, reason="connection_failed"))
