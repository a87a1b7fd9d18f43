"""Files from people and to people, through the local Slack."""

from collections.abc import AsyncIterator

import pytest
from starlette.responses import Response

from bot.channels.slack import files
from bot.channels.slack.calls import OneToken
from bot.channels.slack.send import SlackChannel
from bot.errors import FileRefused, SendLater, SendRefused, SendUncertain
from bot.messages import Attachment
from bot.ports import Upload
from simulator.slack import ANN_DM, GENERAL, SCOPES
from simulator.world import Fault, File
from tests.channels.canned import Canned, canned_platform, cutting_platform
from tests.channels.slack.stage import DIRECT, Stage, manner, staged

PICTURE = File("shot.png", "image/png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


async def attached(stage: Stage, file: File = PICTURE) -> Attachment:
    """A file that Ann sent, as a message tells of it."""
    await stage.slack.say(ANN_DM, "ann", file=file)
    return Attachment("photo", [*stage.slack.file_objects][-1])


# From people.


async def test_a_file_is_fetched_whole(stage: Stage) -> None:
    assert await stage.channel().fetch(DIRECT, await attached(stage)) == PICTURE.data


async def test_without_its_right_the_sign_in_page_is_never_taken_for_the_file(stage: Stage) -> None:
    attachment = await attached(stage)
    stage.slack.scopes = SCOPES - {"files:read"}
    with pytest.raises(FileRefused, match=r"files:read.*reinstalled"):
        await stage.channel().fetch(DIRECT, attachment)


async def test_a_page_of_html_that_somebody_sent_is_a_file(stage: Stage) -> None:
    page = File("page.html", "text/html", b"<!DOCTYPE html><p>hi")
    assert await stage.channel().fetch(DIRECT, await attached(stage, page)) == page.data


async def test_a_deleted_file_is_refused_with_the_reason(stage: Stage) -> None:
    attachment = await attached(stage)
    stage.slack.tombstone(attachment.id)
    for gone in (attachment, Attachment("photo", "F0NEVER")):
        with pytest.raises(FileRefused, match="deleted"):
            await stage.channel().fetch(DIRECT, gone)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"size": 50 * 1024**2 + 1}, "larger than 50 MB"),
        ({"mode": "external", "is_external": True}, "only a link"),
        ({"mode": "hidden_by_limit"}, "hidden by the limits"),
        ({"url_private_download": "https://files.example/f", "url_private": ""}, "not Slack's own"),
        ({"url_private_download": "http://files.slack.com/f"}, "not Slack's own"),
        ({"url_private_download": "https://evilslack.com/f"}, "not Slack's own"),
        ({"url_private_download": "", "url_private": ""}, "not Slack's own"),
    ],
)
async def test_what_can_not_be_had_is_refused_before_it_is_asked_for(
    stage: Stage, fields: dict[str, object], reason: str
) -> None:
    attachment = await attached(stage)
    stage.slack.file_objects[attachment.id].update(fields)
    with pytest.raises(FileRefused, match=reason):
        await stage.channel().fetch(DIRECT, attachment)


async def test_a_file_of_a_shared_channel_of_which_only_the_id_is_told_is_looked_up(stage: Stage) -> None:
    attachment = await attached(stage)
    stage.slack.file_objects[attachment.id]["file_access"] = "check_file_info"
    assert await stage.channel().fetch(DIRECT, Attachment("document", attachment.id)) == PICTURE.data


async def test_a_file_without_an_id_is_refused(stage: Stage) -> None:
    with pytest.raises(FileRefused, match="no id"):
        await stage.channel().fetch(DIRECT, Attachment("photo"))


@pytest.mark.parametrize(
    ("error", "status", "raised"),
    [("ratelimited", 429, SendLater), ("internal_error", 200, SendUncertain), ("token_revoked", 200, FileRefused)],
)
async def test_a_moment_of_trouble_is_worth_another_try(
    stage: Stage, error: str, status: int, raised: type[Exception]
) -> None:
    attachment = await attached(stage)
    stage.fault("files.info", error, status=status)
    with pytest.raises(raised):
        await stage.channel().fetch(DIRECT, attachment)


@pytest.fixture
async def canned() -> AsyncIterator[Canned]:
    async with canned_platform({"ok": True}) as canned:
        file = {"id": "F1", "mimetype": "image/png", "url_private_download": f"{canned.url}/files/shot"}
        canned.usually = {"ok": True, "file": file}
        yield canned


async def fetched(url: str) -> bytes:
    channel = SlackChannel(OneToken("xoxb-1"), f"{url}/api/")
    try:
        return await channel.fetch(DIRECT, Attachment("photo", "F1"))
    finally:
        await channel.close()


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        (Response(status_code=302, headers={"Location": "https://simulator.slack.com/?redir=x"}), FileRefused),
        (Response("<html>", media_type="text/html; charset=utf-8"), FileRefused),
        (Response(status_code=403), FileRefused),
        (Response(status_code=404), FileRefused),
        (Response(status_code=503), SendLater),
        (Response(status_code=429, headers={"Retry-After": "7"}), SendLater),
    ],
)
async def test_whatever_else_the_file_server_says_is_not_the_file(
    canned: Canned, answer: Response, raised: type[Exception]
) -> None:
    canned.say_raw("shot", answer)
    with pytest.raises(raised):
        await fetched(canned.url)
    assert [call.method for call in canned.calls] == ["files.info", "shot"]


async def test_a_file_that_is_larger_than_it_said_is_given_up_on_the_way(canned: Canned) -> None:
    canned.say_raw("shot", Response(b"x" * (files.LIMIT + 1), media_type="image/png"))
    with pytest.raises(FileRefused, match="larger"):
        await fetched(canned.url)


async def test_a_connection_cut_in_the_middle_of_a_file_is_tried_later(canned: Canned) -> None:
    canned.say_raw("shot", Response(b"x", media_type="image/png", headers={"Content-Length": "1000"}))
    with pytest.raises(SendLater):
        await fetched(canned.url)


async def test_a_server_that_is_cut_off_raises_what_a_channel_may_raise() -> None:
    async with cutting_platform() as (url, _):
        with pytest.raises(SendUncertain):
            await fetched(url)


# To people.


UPLOADS = (
    Upload("plot.png", "image/png", PICTURE.data, caption="a < b & <!channel>"),
    Upload("table.csv", "text/csv", b"a,b\n1,2\n", caption="prices"),
)


async def test_files_are_one_message_in_the_thread_with_their_captions(stage: Stage) -> None:
    place = await stage.thread()
    message_id = await stage.channel().send_files(place, UPLOADS, manner())

    (shown,) = stage.ours()
    assert (shown.id, shown.thread) == (message_id, place.thread)
    assert shown.text == "a &lt; b &amp; &lt;!channel&gt;\nprices"
    assert [(file.name, file.media_type) for file in shown.files] == [
        ("plot.png", "image/png"),
        ("table.csv", "text/csv"),
    ]
    assert [stage.slack.files[file.url.rpartition("/")[2]].data for file in shown.files] == [
        upload.data for upload in UPLOADS
    ]


async def test_files_for_one_persons_eyes_go_into_their_direct_messages(stage: Stage) -> None:
    await stage.channel().send_files(await stage.thread(), UPLOADS[1:], manner(quiet=True))

    assert stage.ours() == []
    assert [(message.thread, len(message.files)) for message in stage.ours(ANN_DM)] == [("", 1)]


async def test_where_slack_does_not_tell_the_message_it_has_no_id(stage: Stage) -> None:
    stage.slack.scopes = SCOPES - {"files:read"}
    assert await stage.channel().send_files(await stage.thread(), UPLOADS, manner()) == ""
    assert len(stage.ours()) == 1


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
async def test_a_rate_limit_before_anything_is_shown_is_a_later_try(stage: Stage, method: str) -> None:
    stage.fault(method, "ratelimited", status=429, retry_after=9)
    with pytest.raises(SendLater) as later:
        await stage.channel().send_files(await stage.thread(), UPLOADS, manner())
    assert later.value.retry_after == 9
    assert stage.ours() == []


async def test_an_upload_that_was_cut_showed_nobody_anything(stage: Stage) -> None:
    stage.simulator.world.add_fault(Fault("slack", "files.getUploadURLExternal", "cut"))
    with pytest.raises(SendLater):
        await stage.channel().send_files(await stage.thread(), UPLOADS, manner())


async def test_a_share_that_was_cut_may_be_there(stage: Stage) -> None:
    stage.simulator.world.add_fault(Fault("slack", "files.completeUploadExternal", "cut"))
    with pytest.raises(SendUncertain):
        await stage.channel().send_files(await stage.thread(), UPLOADS, manner())


async def test_without_the_right_to_send_files_it_says_so(stage: Stage) -> None:
    stage.slack.scopes = SCOPES - {"files:write"}
    with pytest.raises(SendRefused, match="missing_scope"):
        await stage.channel().send_files(await stage.thread(), UPLOADS, manner())


async def test_a_channel_the_bot_is_not_in_takes_no_files(stage: Stage) -> None:
    place = await stage.thread()
    stage.slack.absent.add(GENERAL)
    with pytest.raises(Exception, match="not_in_channel"):
        await stage.channel().send_files(place, UPLOADS, manner())
