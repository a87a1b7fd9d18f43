"""What people do on the page beside writing: files, voices, threads, commands; and what they see of the bot's."""

import json
import re

import pytest
from playwright.async_api import FilePayload, expect

from simulator.world import Json
from tests.pictures import picture
from tests.simulator.pane import Pane, become, slack_of, telegram_of
from tests.simulator.staged import PHONE, Open, Stage

pytestmark = pytest.mark.browser

THREE: list[FilePayload] = [
    {"name": f"{name}.png", "mimeType": "image/png", "buffer": picture(80, 60, colour=name)}
    for name in ("teal", "navy", "olive")
]
NOTES: FilePayload = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Train at seven"}


async def test_several_pictures_with_a_question_are_one_album(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page(viewport=PHONE, touch=True))
    await pane.files.set_input_files([*THREE, NOTES])
    await pane.button("Remove notes.txt").tap()
    await pane.say("Which is best?")
    album = pane.messages.first
    await expect(album.locator(".album img")).to_have_count(3)
    await expect(album.locator(".text")).to_have_text("Which is best?")
    await expect(pane.root.get_by_role("list", name="Files to send")).to_be_hidden()
    sent = [message for message in stage.simulator.telegram.messages("1001") if not message.is_bot]
    assert len({message.album for message in sent}) == 1 and sent[0].album
    assert [message.files[0].name for message in sent] == ["teal.png", "navy.png", "olive.png"]
    loaded = "images => images.every(image => image.complete && image.naturalWidth === 80)"
    await expect(album.locator("img").last).to_have_js_property("complete", True)
    assert await album.locator("img").evaluate_all(loaded)


async def test_in_a_group_one_sees_which_pictures_privacy_mode_keeps(open_page: Open) -> None:
    pane = telegram_of(await open_page())
    await pane.chat("Trip to Bromo").click()
    await pane.files.set_input_files(THREE)
    await pane.say("@kabar_simulator_bot which?")
    await expect(pane.messages.first).to_contain_text("the bot gets only what the mention stands under")
    await expect(pane.messages.first.get_by_role("img", name="Accepted by the bot")).to_be_visible()


async def test_a_document_is_sent_in_slack_and_can_be_opened(open_page: Open) -> None:
    page = await open_page()
    pane = slack_of(page)
    await pane.files.set_input_files(NOTES)
    await pane.button("Send").click()
    link = pane.messages.first.get_by_role("link", name="notes.txt 14 B")
    address = await link.get_attribute("href")
    assert (await page.request.get(f"{page.url.partition('#')[0].rstrip('/')}{address}")).ok


async def test_a_pasted_picture_waits_to_be_sent_and_stays_in_its_chat(open_page: Open) -> None:
    pane = telegram_of(await open_page())
    await pane.text.evaluate(
        """async (text, bytes) => {
          const clipboardData = new DataTransfer();
          clipboardData.items.add(new File([new Uint8Array(bytes)], 'shot.png', { type: 'image/png' }));
          text.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
        }""",
        list(picture()),
    )
    await expect(pane.root.get_by_role("listitem").filter(has_text="shot.png")).to_be_visible()
    await pane.chat("Trip to Bromo").click()
    await expect(pane.root.get_by_text("shot.png")).to_have_count(0)
    await pane.chat("Kabar").click()
    await pane.text.press("Enter")
    await expect(pane.messages.first.locator("img.picture")).to_be_visible()


@pytest.mark.parametrize("platform", ["Telegram", "Slack"])
async def test_a_voice_message_can_be_sent_without_a_microphone(open_page: Open, stage: Stage, platform: str) -> None:
    page = await open_page()
    pane = Pane(page, platform)
    await pane.attach("Voice message")
    await expect(page.get_by_text("There is no microphone here")).to_be_visible()
    await expect(pane.messages.first.get_by_label("voice.wav")).to_be_visible()
    (file,) = next(iter(stage.simulator.world.messages.values())).files
    assert (file.media_type, file.kind) == ("audio/wav", "voice" if platform == "Telegram" else "")


async def test_a_recorded_voice_has_its_length(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    await page.evaluate(  # a browser without sound has no microphone: an oscillator stands in for one
        """() => {
          navigator.mediaDevices.getUserMedia = async () => {
            const context = new AudioContext();
            const sound = context.createMediaStreamDestination();
            const oscillator = context.createOscillator();
            oscillator.connect(sound);
            oscillator.start();
            return sound.stream;
          };
        }"""
    )
    pane = telegram_of(page)
    await pane.attach("Voice message")
    await expect(pane.root.get_by_text("Recording")).to_be_visible()
    await pane.button("Send the voice message").click()
    await expect(pane.root.get_by_text("Recording")).to_be_hidden()
    await expect(pane.messages.first.get_by_label("voice.webm")).to_be_visible()


async def test_stickers_places_and_contacts_are_sent_with_the_keyboard(open_page: Open) -> None:
    page = await open_page()
    pane = telegram_of(page)
    await pane.button("Attach").press("Enter")
    await expect(pane.root.get_by_role("menuitem", name="Photo or file")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(pane.message("📍 -7.9425, 112.953")).to_be_visible()
    await pane.attach("Contact")
    await expect(pane.message("Jeep Pak Joko, +62811000111")).to_be_visible()
    await pane.attach("Send the sticker 🎉")
    await expect(pane.message("🎉").locator(".large")).to_be_visible()
    await pane.button("Attach").press("Enter")
    await page.keyboard.press("Escape")
    await expect(pane.root.get_by_role("menuitem")).to_have_count(0)
    await expect(pane.button("Attach")).to_be_focused()


async def test_a_reply_quotes_the_part_that_is_selected(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    await pane.say("first words")
    answer = pane.message("You said: first words")
    await answer.locator(".text").evaluate(
        """text => {
          const node = document.createTreeWalker(text, NodeFilter.SHOW_TEXT).nextNode();
          document.getSelection().setBaseAndExtent(node, 10, node, 15);
        }"""
    )
    await answer.hover()
    await answer.get_by_role("button", name="Reply", exact=True).click()
    await expect(pane.root.get_by_text("“first”")).to_be_visible()
    await pane.say("why first?")
    await expect(pane.message("why first?").first.locator(".quote")).to_have_text("Kabarfirst")
    said = await stage.simulator.telegram.wait_for(lambda message: message.text == "why first?")
    native = stage.simulator.telegram.natives[("1001", int(said.id))]
    assert native["quote"]["text"] == "first"


@pytest.mark.parametrize("platform", ["Telegram", "Slack"])
async def test_an_own_message_can_be_deleted_and_no_other(open_page: Open, platform: str) -> None:
    pane = Pane(await open_page(), platform)
    await pane.say("a slip")
    answer = pane.message("You said: a slip")
    await answer.focus()
    await expect(answer.get_by_role("button", name="Delete")).to_have_count(0)
    await pane.use(pane.messages.first, "Delete")
    await expect(pane.messages).to_have_count(1)


async def test_slash_commands_work_as_in_slack(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    pane = slack_of(page)
    await pane.chat("#general").click()
    await pane.attach("/kabar command")
    await pane.text.press_sequentially("usage")
    await pane.text.press("Enter")
    await expect(pane.newest).to_contain_text("Only you see this.")
    await expect(pane.newest).to_contain_text("Only visible to you")
    await expect(pane.messages).to_have_count(1)
    assert stage.bot.asked == ["/kabar usage"]

    await pane.say("/usage")
    await expect(page.get_by_text("/usage is not a valid command in Slack")).to_be_visible()
    await expect(pane.text).to_have_value("/usage")
    await become(page, "Budi")
    await expect(pane.messages).to_have_count(0)

    await pane.say("a root")
    await pane.use(pane.newest, "Reply in thread")
    await pane.say("/kabar usage")
    await expect(page.get_by_text("/kabar is not supported in threads")).to_be_visible()


async def test_the_commands_are_offered_below_the_slash_command_and_chosen_with_arrows(
    open_page: Open, stage: Stage
) -> None:
    stage.simulator.world.commands[:] = [{"command": name, "description": name.title()} for name in ("new", "usage")]
    pane = slack_of(await open_page())
    await pane.text.press_sequentially("/k")
    await expect(pane.button("/kabar usage")).to_be_visible()
    await pane.text.press("ArrowUp")
    await pane.text.press("Tab")
    await expect(pane.text).to_have_value("/kabar usage ")


async def test_any_slack_message_can_be_shown_to_the_bot(open_page: Open, stage: Stage) -> None:
    await stage.simulator.slack.say("C0GENERAL", "budi", "Who books the jeep?")
    pane = slack_of(await open_page())
    await pane.chat("#general").click()
    await pane.use(pane.newest, "Ask Kabar")
    await expect(pane.newest).to_contain_text("Only you see this.")
    assert stage.bot.asked == ["Who books the jeep?"]


async def test_the_bots_home_and_its_suggestions_are_shown(open_page: Open, stage: Stage) -> None:
    pane = slack_of(await open_page())
    await pane.button("Home").click()
    home = pane.root.get_by_role("region", name="Home of Kabar")
    await expect(home.locator("strong")).to_have_text("Welcome")
    shown = await home.inner_text()
    assert [line for line in shown.splitlines() if line] == ["Welcome to Kabar", "English", "How it answers", "Quietly"]
    await home.get_by_role("button", name="Quietly").click()
    await expect(home).to_contain_text("You chose quiet.")
    await expect(pane.text).to_be_hidden()
    await pane.button("Messages").click()
    await expect(home).to_be_hidden()
    await expect(pane.root.get_by_text("To begin with")).to_be_visible()
    await pane.button("Plan a trip").click()
    await expect(pane.newest).to_contain_text("You said: Plan a trip to Bromo")


async def test_the_newest_replies_of_a_thread_stand_below_it_and_all_inside(open_page: Open, stage: Stage) -> None:
    slack = stage.simulator.slack
    root = await slack.say("C0GENERAL", "ann", "the root")
    for n in range(4):
        await slack.say("C0GENERAL", "budi", f"reply {n}", root.id)
    await slack.say("C0GENERAL", "budi", "something else")
    pane = slack_of(await open_page(viewport=PHONE, who="budi"))
    await pane.page.get_by_role("tab", name="Slack").click()
    await pane.chat("#general").click()
    shown = pane.messages.locator(".text")
    await expect(shown).to_have_text(["the root", "reply 2", "reply 3", "something else"])
    await pane.button("4 replies").click()
    await expect(shown).to_have_text(["the root", "reply 0", "reply 1", "reply 2", "reply 3"])
    await pane.button("Back").click()
    await expect(shown).to_have_count(4)


async def test_people_choose_their_language_and_the_bot_is_told(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    await expect(telegram_of(page).button("What can you do?")).to_be_visible()
    await page.get_by_label("Language of your apps").select_option("Indonesia")
    await expect(telegram_of(page).button("Apa yang bisa kamu lakukan?")).to_be_visible()
    await stage.simulator.world.wait_until(lambda: stage.simulator.world.person("ann").language == "id")
    await telegram_of(page).say("halo")
    said = await stage.simulator.telegram.wait_for(lambda message: message.text == "halo")
    assert stage.simulator.telegram.natives[("1001", int(said.id))]["from"]["language_code"] == "id"
    other = await open_page()
    await expect(other.get_by_label("Language of your apps")).to_have_value("id")


async def test_two_windows_are_two_people(open_page: Open) -> None:
    ann, sari = await open_page(), await open_page(who="sari")
    for page, name in ((ann, "Ann"), (sari, "Sari")):
        await telegram_of(page).chat("Trip to Bromo").click()
        await telegram_of(page).say(f"I am {name}")
    await expect(telegram_of(ann).messages).to_have_count(2)
    await expect(telegram_of(ann).message("I am Ann")).to_have_class(re.compile(r"\bours\b"))
    await expect(telegram_of(sari).message("I am Ann")).not_to_have_class(re.compile(r"\bours\b"))


async def test_what_the_bot_sends_is_shown(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    bot = stage.bot.telegram
    await bot.send_document(1001, b"a,b\n1,2\n", filename="prices.csv", caption="Your table")
    await expect(pane.newest.get_by_role("link", name="prices.csv 8 B")).to_be_visible()
    await expect(pane.newest).to_contain_text("Your table")
    await bot.send_message(1001, "Psst", disable_notification=True)
    await expect(pane.newest.get_by_role("img", name="Sent without a sound")).to_be_visible()


async def test_the_steps_of_a_slack_stream_are_told_above_its_text(open_page: Open, stage: Stage) -> None:
    pane = slack_of(await open_page())
    slack = stage.bot.slack
    root = await stage.simulator.slack.say("D0ANN", "ann", "hi")
    await expect(pane.newest).to_contain_text("You said: hi")
    stream = await slack.chat_startStream(channel="D0ANN", thread_ts=root.id, task_display_mode="plan")
    chunk = {"type": "task_update", "id": "1", "title": "Searching the web", "status": "in_progress"}
    chunks: list[Json] = [{"type": "plan_update", "title": "Looking around"}, chunk]
    await slack.chat_appendStream(channel="D0ANN", ts=stream["ts"], chunks=json.loads(json.dumps(chunks)))
    steps = pane.newest.get_by_role("group")
    await expect(steps).to_contain_text("Looking around")
    await expect(steps.get_by_role("img", name="running")).to_be_visible()
    await slack.chat_appendStream(channel="D0ANN", ts=stream["ts"], chunks=[{**chunk, "status": "complete"}])
    await expect(steps.get_by_role("img", name="done")).to_be_visible()
    await slack.chat_stopStream(channel="D0ANN", ts=stream["ts"])
    await expect(steps.get_by_role("img", name="done")).to_be_hidden()  # folded
    await steps.get_by_text("Looking around").click()
    await expect(steps.get_by_text("Searching the web")).to_be_visible()


async def test_a_draft_is_marked_and_ends_with_its_message(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    await stage.bot.telegram.send_message_draft(1001, 7, "Half a th")
    await expect(pane.newest.get_by_text("draft")).to_be_visible()
    await expect(pane.newest).to_have_class(re.compile(r"\blive\b"))
    await stage.bot.telegram.send_message(1001, "Half a thought, whole")
    await expect(pane.messages).to_have_count(1)
    await expect(pane.newest.get_by_text("draft")).to_have_count(0)
