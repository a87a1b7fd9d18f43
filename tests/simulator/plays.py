"""What people do with the bot on the page, from one end to the other: with `make run` as it is.

Each play takes an open page, of any width, and ends at what is worth a look.
"""

from collections.abc import Awaitable, Callable

from playwright.async_api import FilePayload, Page, expect

from tests.pictures import sunset
from tests.simulator.pane import Pane, become, slack_of, telegram_of

ANSWER = 45_000.0
"""Milliseconds that an answer may take on a busy machine, the bot's own start included."""
PICTURES: list[FilePayload] = [
    {"name": f"{name}.png", "mimeType": "image/png", "buffer": sunset(sky, ground)}
    for name, sky, ground in (
        ("dawn", "slateblue", "darkslategray"),
        ("noon", "steelblue", "olivedrab"),
        ("dusk", "indianred", "saddlebrown"),
    )
]

Play = Callable[[Page], Awaitable[None]]


async def opened(page: Page, pane: Pane, chat: str) -> Pane:
    """A chat of a pane, which on a phone has to be turned to first."""
    if not await pane.root.is_visible():
        await page.get_by_role("tab", name=pane.title).click()
    await pane.chat(chat).click()
    return pane


async def a_mention_in_a_group_after_an_emoji(page: Page) -> None:
    pane = await opened(page, telegram_of(page), "Trip to Bromo")
    await pane.text.fill("🌋👨‍👩‍👧 ")
    await pane.button("Mention @kabar_simulator_bot").click()
    await pane.text.press_sequentially("what is 12*7+3?")
    await pane.text.press("Enter")
    await expect(pane.newest).to_contain_text("12*7+3 = 87", timeout=ANSWER)
    await expect(pane.newest.locator(".quote")).to_contain_text("🌋👨‍👩‍👧")


async def an_album_with_a_question(page: Page) -> None:
    pane = await opened(page, telegram_of(page), "Kabar")
    await pane.files.set_input_files(PICTURES)
    await pane.say("What do you see?")
    await expect(pane.messages.first.locator(".album img")).to_have_count(3)
    await expect(pane.newest).to_contain_text("I see 3 pictures (640 x 480, 640 x 480, 640 x 480", timeout=ANSWER)


async def an_edit_during_a_turn(page: Page) -> None:
    pane = await opened(page, telegram_of(page), "Kabar")
    await pane.say("Write a long answer")
    await expect(pane.button("Stop")).to_be_visible(timeout=ANSWER)
    await pane.text.press("ArrowUp")
    await pane.say("what is 6*7?")
    await expect(pane.messages.first).to_contain_text("edited")
    await pane.button("Redo").click(timeout=ANSWER)
    await expect(pane.log).to_contain_text("6*7 = 42", timeout=ANSWER)


async def stop_in_the_middle_of_an_answer(page: Page) -> None:
    pane = await opened(page, telegram_of(page), "Kabar")
    await pane.say("go slow")
    await pane.button("Stop").click(timeout=ANSWER)
    await expect(pane.newest).to_contain_text("Stopped", timeout=ANSWER)
    await expect(pane.button("Stop")).to_have_count(0)


async def a_thread_in_slack(page: Page) -> None:
    pane = await opened(page, slack_of(page), "#general")
    await pane.button("Mention @Kabar").click()
    await pane.text.press_sequentially("what is 2^10?")
    await pane.text.press("Enter")
    await expect(pane.newest).to_contain_text("1024", timeout=ANSWER)
    await pane.button("1 reply").click()
    await pane.say("@Kabar and 7*6?")
    await expect(pane.newest).to_contain_text("7*6 = 42", timeout=ANSWER)
    await expect(pane.messages).to_have_count(4)


async def stop_in_slack(page: Page) -> None:
    pane = await opened(page, slack_of(page), "#general")
    await pane.say("@Kabar go slow")
    await expect(pane.message("I am writing slowly")).to_be_visible(timeout=ANSWER)
    await pane.root.get_by_role("button", name="Stop", exact=True).click()
    await expect(pane.log).to_contain_text("Stopped", timeout=ANSWER)
    await expect(pane.root.get_by_role("button", name="Stop", exact=True)).to_have_count(0)


async def settings_by_buttons(page: Page) -> None:
    pane = await opened(page, telegram_of(page), "Kabar")
    await pane.say("/language english")
    await expect(pane.newest).to_contain_text("English", timeout=ANSWER)
    await pane.say("/settings")
    await expect(pane.newest).to_contain_text("Settings of this chat", timeout=ANSWER)
    await pane.button("Indonesia").click()
    await expect(pane.newest).to_contain_text("Pengaturan", timeout=ANSWER)
    await expect(pane.button("✓ Indonesia")).to_be_visible()


async def a_file_from_the_bot(page: Page) -> None:
    pane = await opened(page, telegram_of(page), "Kabar")
    await pane.say("make a file")
    link = pane.root.get_by_role("link", name="packing.csv")
    await expect(link).to_be_visible(timeout=ANSWER)
    address = await link.get_attribute("href") or ""
    assert "warm jacket" in await (await page.request.get(address)).text()


async def what_a_stranger_hears(page: Page) -> None:
    """Once in each app: the bot does not tell a stranger twice."""
    await become(page, "Sari")
    wide = page.viewport_size and page.viewport_size["width"] > 800
    pane = await opened(page, slack_of(page) if wide else telegram_of(page), "Kabar")
    await pane.say("halo")
    await expect(pane.newest).to_contain_text("Bot ini pribadi", timeout=ANSWER)


async def a_command_that_only_one_person_sees(page: Page) -> None:
    pane = await opened(page, slack_of(page), "#general")
    await pane.say("/kabar usage")
    await expect(pane.newest).to_contain_text("Only visible to you", timeout=ANSWER)
    await expect(pane.newest).to_contain_text("Usage")


async def a_tool_of_an_mcp_server(page: Page) -> None:
    """Where the owner's folder names mcp-server-time."""
    pane = await opened(page, telegram_of(page), "Kabar")
    await pane.say("convert 16:30 from Asia/Jakarta to Asia/Tokyo")
    await expect(pane.newest).to_contain_text("time_convert_time", timeout=ANSWER)
    await expect(pane.newest).to_contain_text("T18:30:00+09:00")


async def what_a_turn_did(page: Page) -> None:
    pane = await opened(page, telegram_of(page), "Kabar")
    await pane.say("what is 12*7+3?")
    await expect(pane.newest).to_contain_text("12*7+3 = 87", timeout=ANSWER)
    await page.get_by_role("button", name="Behind the scenes").click()
    turn = page.get_by_role("list", name="Turns, newest first").locator("li").first
    await turn.locator("summary").first.click()
    await expect(turn).to_contain_text("2 model calls · 1 tool call", timeout=ANSWER)
    await turn.locator("summary").filter(has_text="calculator").click()
    await expect(turn.get_by_role("group", name="Result")).to_contain_text("87")


async def both_apps_at_once(page: Page) -> None:
    """A chart in Telegram, for which leave was given, and in a thread in Slack a question that waits for its own."""
    telegram, slack = telegram_of(page), slack_of(page)
    await opened(page, telegram, "Kabar")
    await telegram.say("draw a chart")
    await telegram.button("Approve once").click(timeout=ANSWER)
    await expect(telegram.root.get_by_role("img", name="costs.png")).to_have_count(1, timeout=ANSWER)
    await opened(page, slack, "#general")
    await slack.say("The jeep leaves at nine.")
    await slack.use(slack.message("The jeep leaves"), "Reply in thread")
    await slack.say("@Kabar remind me in 1 hour to buy snacks")
    await expect(slack.button("Approve once")).to_be_visible(timeout=ANSWER)


PLAYS: tuple[Play, ...] = (
    a_mention_in_a_group_after_an_emoji,
    an_album_with_a_question,
    an_edit_during_a_turn,
    stop_in_the_middle_of_an_answer,
    a_thread_in_slack,
    stop_in_slack,
    settings_by_buttons,
    a_file_from_the_bot,
    what_a_stranger_hears,
    a_command_that_only_one_person_sees,
    what_a_turn_did,
)
