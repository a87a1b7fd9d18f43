"""How Slack lets a workspace install an app: its page, the code that the browser brings back, tokens, their renewal.

Source: docs.slack.dev/authentication/installing-with-oauth, docs.slack.dev/authentication/using-token-rotation,
docs.slack.dev/reference/methods/oauth.v2.access.
"""

import base64
import binascii
import html
import secrets
from collections.abc import Iterable
from urllib.parse import urlencode

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from simulator.slack import APP, SCOPES, Slack
from simulator.slack_limits import Refused
from simulator.wire import read_params
from simulator.world import Json, Mistake, World

CLIENT_ID = "1111.2222"
CLIENT_SECRET = "simulator-client-secret"
CODE_LASTS = 600
TOKEN_LASTS = 43_200
"""Seconds: ten minutes, twelve hours."""


class Code(Struct):
    slack: Slack
    person: str
    scope: str
    until: float
    used: bool = False


class Renewal(Struct):
    slack: Slack
    scope: str
    used: bool = False


class OAuth:
    """``redirect_url`` is the one in the app's settings. ``rotates``: tokens end, and come with what renews them."""

    def __init__(self, world: World) -> None:
        self.redirect_url = ""
        self.rotates = False
        self.workspaces: list[Slack] = []
        self._world = world
        self._codes: dict[str, Code] = {}
        self._renewals: dict[str, Renewal] = {}

    # The page, in a browser.

    async def authorize(self, request: Request) -> Response:
        """GET shows who may be chosen; POST is the choice: ``team`` and ``user``, or ``cancel``."""
        query = request.query_params
        if fault := self._fault(query.get("client_id", ""), query.get("scope", "")):
            return HTMLResponse(f"<h1>Something went wrong: {fault}</h1>", 400)
        if request.method == "GET":
            return HTMLResponse(self._page())
        form, _ = await read_params(request)
        back = {"state": query["state"]} if "state" in query else {}
        if "cancel" in form:
            return self._sent_back({"error": "access_denied", **back})
        try:
            slack, person = self._slack(form.get("team", "")), self._world.person(form.get("user", ""))
        except Mistake as mistake:
            return HTMLResponse(html.escape(str(mistake)), 400)
        return self._sent_back({"code": self.allow(slack, person.slack_id, query["scope"]), **back})

    def allow(self, slack: Slack, person: str, scope: str) -> str:
        """A person, by their id, installs the app in a workspace; returns the code."""
        code = f"{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        self._codes[code] = Code(slack, person, scope, self._world.now() + CODE_LASTS)
        return code

    def _fault(self, client_id: str, scope: str) -> str:
        if client_id != CLIENT_ID:
            return "invalid_client_id"
        return "" if scope and set(scope.split(",")) <= SCOPES else "invalid_scope"

    def _page(self) -> str:
        rows = (
            f'<form method="post"><input name="team" value="{each.workspace.team}"><input name="user" value="ann">'
            f"<button>Allow {html.escape(each.workspace.name)}</button></form>"
            for each in self.workspaces
        )
        return f'{"".join(rows)}<form method="post"><input name="cancel" value="1"><button>Cancel</button></form>'

    def _sent_back(self, query: dict[str, str]) -> Response:
        separator = "&" if "?" in self.redirect_url else "?"
        return RedirectResponse(f"{self.redirect_url}{separator}{urlencode(query)}", 302)

    def _slack(self, team: str) -> Slack:
        for slack in self.workspaces:
            if slack.workspace.team == team:
                return slack
        raise Mistake(f"There is no workspace {team!r}.")

    # oauth.v2.access, called by the app.

    def access(self, authorization: str, params: Json) -> Json:
        """Raises Refused."""
        client_id, client_secret = _basic(authorization) or (params.get("client_id"), params.get("client_secret"))
        if client_id != CLIENT_ID:
            raise Refused("invalid_client_id")
        if client_secret != CLIENT_SECRET:
            raise Refused("bad_client_secret")
        match params.get("grant_type", "authorization_code"):
            case "authorization_code":
                return self._exchanged(params)
            case "refresh_token":
                return self._renewed(params)
            case _:
                raise Refused("invalid_grant_type")

    def _exchanged(self, params: Json) -> Json:
        code = self._codes.get(params.get("code", ""))
        if code is None or code.until < self._world.now():
            raise Refused("invalid_code")
        if code.used:
            raise Refused("code_already_used")
        if params.get("redirect_uri", self.redirect_url) != self.redirect_url:
            raise Refused("bad_redirect_uri")
        code.used = True
        return {**self._tokens(code.slack, code.scope, fresh=True), "authed_user": {"id": code.person}}

    def _renewed(self, params: Json) -> Json:
        renewal = self._renewals.get(params.get("refresh_token", ""))
        if renewal is None or renewal.used or renewal.slack.bot_token in renewal.slack.revoked:
            raise Refused("invalid_refresh_token")
        renewal.used = True
        return self._tokens(renewal.slack, renewal.scope, fresh=False)

    def _tokens(self, slack: Slack, scope: str, *, fresh: bool) -> Json:
        """A workspace that has the app already is given the same token again, where tokens do not end."""
        where = slack.workspace
        more: Json = {}
        slack.scopes = frozenset(scope.split(","))
        if self.rotates:
            slack.bot_token = f"xoxe.xoxb-1-{secrets.token_hex(16)}"
            slack.expires[slack.bot_token] = self._world.now() + TOKEN_LASTS
            renewal = f"xoxe-1-{secrets.token_hex(16)}"
            self._renewals[renewal] = Renewal(slack, scope)
            more = {"refresh_token": renewal, "expires_in": TOKEN_LASTS}
        elif fresh and (not slack.bot_token or slack.bot_token in slack.revoked):
            slack.bot_token = f"xoxb-{secrets.token_hex(16)}"
        return {
            "app_id": APP,
            "access_token": slack.bot_token,
            "token_type": "bot",
            "scope": scope,
            "bot_user_id": where.bot_user,
            "team": None if where.enterprise else {"id": where.team, "name": where.name},
            "enterprise": {"id": where.enterprise, "name": where.name} if where.enterprise else None,
            "is_enterprise_install": bool(where.enterprise),
            **more,
        }


def by_token(workspaces: Iterable[Slack], token: str) -> Slack | None:
    """The workspace that a token was made for, also where it is no longer good."""
    return next((slack for slack in workspaces if token and slack.knows(token)), None)


def _basic(authorization: str) -> tuple[str, str] | None:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, password = base64.b64decode(encoded).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return name, password
