"""The files of both platforms, by id: what people attach, what the bot sends, and how the page gets at them.

They live in ``world.files``. The page uploads one before it is said with a message; see README.md for the shapes.
"""

import secrets
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from simulator.world import File, FileInfo, Mistake, World

UPLOAD_LIMIT = 2 * 1024**3
"""Bytes a person can send: what Telegram's apps take."""
_UPLOAD_TYPE = "application/octet-stream"


def keep(world: World, file: File, id: str = "") -> str:
    """Keep a file; returns its id, a new one unless a platform has its own kind of id."""
    id = id or f"file{secrets.token_hex(8)}"
    world.files[id] = file
    return id


def kept(world: World, id: str) -> File:
    """Raises Mistake."""
    file = world.files.get(id)
    if file is None:
        raise Mistake("There is no such file.")
    return file


def info(world: World, id: str, kind: str = "") -> FileInfo:
    """A kept file as the page shows it. Raises Mistake."""
    file = kept(world, id)
    return FileInfo(file.name, file.media_type, len(file.data), f"/sim/files/{id}", kind)


def file_routes(world: World) -> list[BaseRoute]:
    async def upload(request: Request) -> Response:
        """The body is the file. Only this content type is taken: another site can not send it here without asking."""
        if request.headers.get("content-type", "") != _UPLOAD_TYPE:
            return JSONResponse({"error": f"Send the bytes as {_UPLOAD_TYPE}."}, 400)
        name = request.query_params.get("name", "").rpartition("/")[2]
        data = await request.body()
        if not name or not data or len(data) > UPLOAD_LIMIT:
            return JSONResponse({"error": "A file needs a name and something in it."}, 400)
        file = File(name, request.query_params.get("media_type") or _UPLOAD_TYPE, data)
        return JSONResponse({"id": keep(world, file), "name": name, "media_type": file.media_type, "size": len(data)})

    async def download(request: Request) -> Response:
        """For people, who need no token. Whatever a file holds, it can run nothing on the page."""
        file = world.files.get(request.path_params["id"])
        if file is None:
            return Response("Not found", 404)
        headers = {
            "Content-Disposition": f"inline; filename*=UTF-8''{quote(file.name, safe='')}",
            "Content-Security-Policy": "sandbox",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(file.data, media_type=file.media_type, headers=headers)

    return [Route("/sim/files", upload, methods=["POST"]), Route("/sim/files/{id}", download)]
