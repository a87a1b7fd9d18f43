"""The simulator's page in a real Chromium, against the real simulator and a bot that uses the platforms' real SDKs."""

import re

import pytest
from playwright.async_api import Browser, Page, expect

from tests.simulator.pane import Pane, become, slack_of, telegram_of
from tests.simulator.staged import PHONE, Open, Scheme, Stage, staged

pytestmark = pytest.mark.browser


async def test_a_telegram_message_gets_a_tick_a_typing_sign_and_an_answer_that_grows_in_place(
    open_page: Open, stage: Stage
) -> None:
    pane = telegram_of(await open_page())
    stage.bot.held = True
    await pane.say("hello there")
    await expect(pane.newest.get_by_role("img", name="Accepted by the bot")).to_be_visible()
    await expect(pane.text).to_have_value("")
    await expect(pane.root.get_by_text("Kabar is typing")).to_be_visible()

    stage.bot.go()
    await expect(pane.newest.locator(".text")).to_have_text("You said")
    await expect(pane.newest.locator(".quote")).to_contain_text("hello there")
    await expect(pane.root.get_by_text("Kabar is typing")).to_have_count(0)

    stage.bot.go()
    await expect(pane.newest.locator(".text")).to_have_text("You said: hello there")
    await expect(pane.newest.get_by_text("edited")).to_be_visible()
    await expect(pane.messages).to_have_count(2)


async def test_a_slack_mention_is_answered_in_its_thread_and_the_thread_goes_on(open_page: Open, stage: Stage) -> None:
    pane = slack_of(await open_page())
    await pane.chat("#general").click()
    stage.bot.held = True
    await pane.root.get_by_role("button", name="Mention @Kabar").click()
    await pane.text.press_sequentially("hello")
    await pane.text.press("Enter")
    await expect(pane.newest.locator(".mention")).to_have_text("@Kabar")
    await expect(pane.newest.get_by_role("img", name="Accepted by the bot")).to_be_visible()
    await expect(pane.root.get_by_text("Kabar is thinking")).to_be_visible()

    stage.bot.go()
    stage.bot.go()
    answer = pane.message("You said: @Kabar hello")
    await expect(answer).to_have_class("message in-thread")

    await pane.use(answer, "Reply in thread")
    await expect(pane.text).to_be_focused()
    await expect(pane.messages).to_have_count(2)
    await pane.say("and one more")
    await expect(pane.message("and one more")).to_have_class("message ours in-thread")
    await pane.text.press("Escape")
    await expect(pane.root.get_by_role("button", name="2 replies")).to_be_visible()


async def test_a_slack_thread_stands_under_its_root_whatever_was_said_after(open_page: Open, stage: Stage) -> None:
    slack = stage.simulator.slack
    root = await slack.say("C0GENERAL", "ann", "the root")
    await slack.say("C0GENERAL", "budi", "something else")
    await slack.say("C0GENERAL", "budi", "a late reply", root.id)
    pane = slack_of(await open_page())
    await pane.chat("#general").click()
    await expect(pane.messages.locator(".text")).to_have_text(["the root", "a late reply", "something else"])


async def test_everything_can_be_done_with_the_keyboard_alone(open_page: Open) -> None:
    page = await open_page()
    pane = telegram_of(page)
    await expect(pane.text).to_be_focused()
    await page.keyboard.type("first line")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("second line")
    await page.keyboard.press("Enter")
    await expect(pane.message("first line").first).to_contain_text("second line")
    await expect(pane.newest).to_contain_text("You said: first line")

    await page.keyboard.press("Shift+Tab")
    await expect(pane.button("Attach")).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await expect(pane.newest).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(pane.messages.first).to_be_focused()

    await page.keyboard.press("Shift+Tab")
    await expect(pane.chat("Kabar")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(pane.chat("Trip to Bromo")).to_be_focused()
    await expect(pane.chat("Trip to Bromo")).to_have_attribute("aria-selected", "true")
    await expect(pane.root.get_by_role("log")).to_contain_text("Kabar answers here when you call it")


# The focused element and its outline. A radio button is invisible itself: the picture beside it is marked.
FOCUS = """() => {
  const focused = document.activeElement;
  const marked = focused.matches('input[type=radio]') ? focused.nextElementSibling : focused;
  return [focused.classList[0] ?? focused.localName, getComputedStyle(marked).outlineStyle];
}"""


async def test_focus_is_always_visible(open_page: Open) -> None:
    page = await open_page()
    await slack_of(page).chat("#general").click()
    outlines: dict[str, str] = {}
    for _ in range(30):
        await page.keyboard.press("Tab")
        name, outline = await page.evaluate(FOCUS)
        outlines[name] = outline
    outlines.pop("body", None)  # where the focus is when it leaves the page, once round
    assert outlines.keys() >= {"chat", "send", "quiet", "textarea", "input", "select"}
    assert "none" not in outlines.values()


async def test_a_phone_shows_one_platform_at_a_time_and_nothing_is_wider_than_the_screen(
    open_page: Open, stage: Stage
) -> None:
    page = await open_page(viewport=PHONE, touch=True)
    telegram, slack = telegram_of(page), slack_of(page)
    await telegram.say("report")
    await expect(telegram.newest).to_contain_text("Prices checked")
    await stage.simulator.telegram.say("1001", "ann", "word" * 200)
    await expect(telegram.newest).to_contain_text("You said: wordword")
    await expect(slack.root).to_have_count(0)
    assert await overflow(page) == []

    await stage.simulator.slack.say("C0GENERAL", "ann", "@Kabar hi")
    await expect(page.get_by_role("tab", name="Slack 1 new")).to_be_visible()
    room = await telegram.text.evaluate("text => text.clientHeight")
    await page.get_by_role("tab", name="Slack").tap()
    await expect(slack.text).to_have_js_property("clientHeight", room)
    await expect(telegram.root).to_have_count(0)
    await slack.say("report")
    await expect(slack.newest).to_contain_text("total = 190_000")
    height = await slack.chat("#general").evaluate("chat => chat.offsetHeight")
    await slack.chat("#general").tap()
    await expect(page.get_by_role("tab", name="Slack 1 new")).to_have_count(0)
    await expect(slack.chat("#general")).to_have_js_property("offsetHeight", height)
    assert await overflow(page) == []


async def overflow(page: Page) -> list[str]:
    """What is wider than the screen, or than the box it stands in; where one can scroll or read "…" it may be."""
    found: list[str] = await page.evaluate(
        """() => {
          const style = (node) => getComputedStyle(node);
          const scrollsItself = (node) => /auto|scroll/.test(style(node).overflowX);
          const scrolls = (node) => node && (scrollsItself(node) || scrolls(node.parentElement));
          const sticksOut = (node) => node.getBoundingClientRect().right > innerWidth + 0.5;
          const isCut = (node) => node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1;
          return [document.documentElement, ...document.body.querySelectorAll('*')]
            .filter((node) => node.checkVisibility() && !node.closest('.unseen, svg') && !scrolls(node))
            .filter((node) => style(node).textOverflow !== 'ellipsis' && (sticksOut(node) || isCut(node)))
            .map((node) => node.outerHTML.slice(0, 200));
        }"""
    )
    return found


@pytest.mark.parametrize("platform", ["Telegram", "Slack"])
async def test_typed_html_stays_text(open_page: Open, platform: str) -> None:
    page = await open_page()
    pane = Pane(page, platform)
    attack = '<img src=x onerror="document.title = 1"><script>document.title = 2</script> &amp; <b>bold</b>'
    await pane.say(attack)
    await expect(pane.messages.first.locator(".text")).to_have_text(attack)
    await expect(pane.newest).to_contain_text("You said:")
    await expect(pane.chat("Kabar")).to_be_visible()
    await expect(pane.messages.locator(".text :is(img, script, b)")).to_have_count(0)
    await expect(page).to_have_title("Kabar simulator")


@pytest.mark.parametrize("platform", ["Telegram", "Slack"])
async def test_a_tap_reaches_the_bot_and_its_edit_reaches_the_page(
    open_page: Open, stage: Stage, platform: str
) -> None:
    pane = Pane(await open_page(), platform)
    await pane.say("ask")
    await pane.root.get_by_role("button", name="Yes").click()
    await expect(pane.newest.locator(".text")).to_have_text("You chose yes.")
    await expect(pane.root.get_by_role("button", name="Yes")).to_have_count(0)
    assert stage.bot.taps == ["yes"]


async def test_the_answer_to_a_tap_is_shown_as_a_notice(open_page: Open) -> None:
    page = await open_page()
    pane = telegram_of(page)
    await pane.say("ask")
    await pane.root.get_by_role("button", name="No").click()
    await expect(page.get_by_text("Noted.")).to_be_visible()


@pytest.mark.parametrize("platform", ["Telegram", "Slack"])
async def test_arrow_up_edits_the_newest_own_message(open_page: Open, stage: Stage, platform: str) -> None:
    page = await open_page()
    pane = Pane(page, platform)
    await pane.say("see https://example.org/a & tell @Ann")
    await expect(pane.newest).to_contain_text("You said")
    await pane.text.press("ArrowUp")
    await expect(pane.text).to_have_value("see https://example.org/a & tell @Ann")
    await pane.text.press("Escape")
    await expect(pane.text).to_have_value("")

    await pane.text.press("ArrowUp")
    await pane.say("something better")
    own = pane.message("something better").first
    await expect(own.get_by_text("edited")).to_be_visible()
    await expect(pane.messages.locator(".text").filter(has_text="see https")).to_have_count(1)  # the bot's answer
    await expect(pane.text).to_have_value("")


async def test_after_a_restart_of_the_simulator_the_page_shows_what_is_there_now(browser: Browser) -> None:
    page = await browser.new_page()
    pane = telegram_of(page)
    async with staged() as before:
        await page.goto(before.url)
        await pane.say("lost with the restart")
        await expect(pane.newest).to_contain_text("You said: lost")
        port = int(before.url.rpartition(":")[2])
    await expect(page.get_by_text("Simulator gone")).to_be_visible()
    await pane.say("typed while it was gone")
    await expect(page.get_by_text("The simulator does not answer")).to_be_visible()
    await expect(pane.text).to_have_value("typed while it was gone")

    async with staged(port) as after:
        await after.simulator.telegram.say("1001", "ann", "said after the restart")
        await expect(pane.message("said after the restart").first).to_be_visible()
        await expect(pane.message("lost with the restart")).to_have_count(0)
        await pane.text.press("Enter")
        await expect(pane.newest).to_contain_text("You said: typed while it was gone")
    await page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_all_text_has_enough_contrast(open_page: Open, stage: Stage, scheme: Scheme) -> None:
    page = await open_page(scheme=scheme)
    telegram, slack = telegram_of(page), slack_of(page)
    assert await weak_contrasts(page) == []  # the welcome

    for pane in (telegram, slack):
        await pane.say("report")
        await expect(pane.newest).to_contain_text("total = 190_000")
        await pane.say("ask")
        await expect(pane.root.get_by_role("button", name="Yes")).to_be_visible()
    stage.bot.status = 401
    await telegram.say("refused")
    await slack.say("refused")
    await expect(page.get_by_text("The bot refused this update: 401")).to_have_count(2)
    await telegram.messages.first.focus()
    await page.get_by_role("button", name="Behind the scenes").click()
    assert await weak_contrasts(page) == []
    await page.get_by_role("tab", name="Platforms").click()
    assert await weak_contrasts(page) == []

    for pane, group in ((telegram, "Trip to Bromo"), (slack, "#general")):
        await pane.chat(group).click()
        await pane.say("to nobody")
        await pane.text.fill("/")
    assert await weak_contrasts(page) == []


async def weak_contrasts(page: Page) -> list[str]:
    """Every visible text whose contrast with what is painted behind it is below 4.5 (WCAG 2, level AA)."""
    found: list[str] = await page.evaluate(
        """() => {
          const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
          const rgba = (color) => {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
            return [r, g, b, a / 255];
          };
          const over = ([r, g, b, a], ground) => [r, g, b].map((value, n) => value * a + ground[n] * (1 - a));
          const ancestors = (node) => (node ? [...ancestors(node.parentElement), node] : []);
          const ground = (node) => ancestors(node).reduce(
            (below, each) => over(rgba(getComputedStyle(each).backgroundColor), below), [255, 255, 255]);
          const luminance = (color) => color
            .map((value) => value / 255)
            .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
            .reduce((sum, value, n) => sum + value * [0.2126, 0.7152, 0.0722][n], 0);
          const contrast = (a, b) => {
            const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
            return (light + 0.05) / (dark + 0.05);
          };
          const ownText = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
          const visible = (node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest('.unseen');
          const texts = [...document.body.querySelectorAll('*')].filter((node) => ownText(node) && visible(node));
          return texts.flatMap((node) => {
            const behind = ground(node);
            const style = getComputedStyle(node);
            if (style.color === 'rgba(0, 0, 0, 0)') return []; // the bot's initial, under its picture
            const ratio = contrast(over(rgba(style.color), behind), behind);
            return ratio < 4.5 ? [`${ratio.toFixed(2)} ${node.className} ${node.textContent.slice(0, 40)}`] : [];
          });
        }"""
    )
    return found


async def test_telegram_entities_become_styled_text(open_page: Open) -> None:
    pane = telegram_of(await open_page())
    await pane.say("report")
    text = pane.newest.locator(".text")
    await expect(text.locator("strong")).to_have_text("Costs so far")
    await expect(text.locator("em")).to_have_text("jeep")
    await expect(text.get_by_role("link")).to_have_attribute("href", "https://example.org/costs")
    await expect(text.locator("pre")).to_have_text("total = 190_000 + 650_000")
    await expect(text.locator(".language")).to_have_text("python")
    await expect(text.locator("blockquote")).to_have_text("Prices checked this morning.")


async def test_slack_markdown_becomes_styled_text(open_page: Open) -> None:
    pane = slack_of(await open_page())
    await pane.say("report")
    text = pane.newest.locator(".text")
    await expect(text.locator(".heading")).to_have_text("Costs so far")
    await expect(text.locator("strong")).to_have_text("190,000")
    await expect(text.get_by_role("link")).to_have_attribute("href", "https://example.org/costs")
    await expect(text.get_by_role("row")).to_have_count(2)
    await expect(text.locator("ol > li > ul > li")).to_have_text("the train")
    await expect(text.locator("pre")).to_have_text("total = 190_000 + 650_000")


RENDERED = [
    ("markdown", "a *b* **c** ~~d~~ `e`", "<p>a <em>b</em> <strong>c</strong> <s>d</s> <code>e</code></p>"),
    ("markdown", "snake_case_name 2*3*4 = 24", "<p>snake_case_name 2<em>3</em>4 = 24</p>"),
    ("markdown", "half **open and `code", "<p>half **open and `code</p>"),
    ("markdown", r"\*plain\* &lt;!channel&gt;", "<p>*plain* &lt;!channel&gt;</p>"),
    ("markdown", "[x](javascript:alert(1))", '<p><span class="no-link" title="javascript:alert(1)">x</span></p>'),
    ("markdown", "<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
    ("markdown", r"*a\*b*, 5*6 and `7*8`", "<p><em>a*b</em>, 5*6 and <code>7*8</code></p>"),
    ("markdown", "**a `**` b**", "<p><strong>a <code>**</code> b</strong></p>"),
    ("markdown", "- a\n  1. b\n- c", '<ul><li><p>a</p><ol start="1"><li><p>b</p></li></ol></li><li><p>c</p></li></ul>'),
    ("markdown", "3. a\n4. b", '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>'),
    ("markdown", "> a\n> b\n\n---", "<blockquote><p>a\nb</p></blockquote><hr>"),
    ("mrkdwn", "*b* _i_ ~s~ `c_d_e`", "<div><strong>b</strong> <em>i</em> <s>s</s> <code>c_d_e</code></div>"),
    ("mrkdwn", "snake_case_name 2*3*4", "<div>snake_case_name 2*3*4</div>"),
    ("mrkdwn", "<@U1> in <#C1>", '<div><span class="mention">@U1!</span> in <span class="mention">#C1!</span></div>'),
    ("mrkdwn", "&lt;@U1&gt; &amp;amp;", "<div>&lt;@U1&gt; &amp;amp;</div>"),
    ("mrkdwn", "&gt; quoted\nnot", "<blockquote>quoted</blockquote><div>not</div>"),
]


async def test_slack_notations_are_read_as_slack_reads_them(open_page: Open) -> None:
    page = await open_page()
    script = """async ([notation, source]) => {
      const module = await import(`/static/${notation}.js`);
      const holder = document.createElement('div');
      holder.append(module[notation](source, (id) => `${id}!`));
      return holder.innerHTML;
    }"""
    seen = [(notation, source, await page.evaluate(script, [notation, source])) for notation, source, _ in RENDERED]
    assert seen == RENDERED


async def test_nested_and_touching_entities_keep_every_character(open_page: Open) -> None:
    page = await open_page()
    script = """async () => {
      const { telegramText } = await import('/static/telegram_text.js');
      const holder = document.createElement('div');
      const entity = (type, offset, length) => ({ type, offset, length });
      holder.append(telegramText('a😀bcdef', [entity('italic', 3, 1), entity('bold', 1, 3), entity('code', 4, 2)]));
      return holder.innerHTML;
    }"""
    assert await page.evaluate(script) == "a<strong>😀<em>b</em></strong><code>cd</code>ef"


async def test_one_chooses_who_one_is_and_sees_what_the_bot_can_not(open_page: Open) -> None:
    page = await open_page()
    pane = telegram_of(page)
    await pane.chat("Trip to Bromo").click()
    await become(page, "Budi")
    await pane.say("psst")
    await expect(pane.newest).to_contain_text("Privacy mode: the bot does not get this")
    await expect(pane.newest).to_have_accessible_name(re.compile("^Budi, "))
    await pane.root.get_by_role("button", name="Mention @kabar_simulator_bot").click()
    await pane.text.press_sequentially("hi")
    await pane.text.press("Enter")
    await expect(pane.newest).to_contain_text("You said: @kabar_simulator_bot hi")
    await expect(pane.newest.locator(".quote")).to_contain_text("Budi")


async def test_a_reply_quotes_what_it_answers(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    await pane.say("first")
    await pane.use(pane.message("You said: first"), "Reply")
    await pane.say("second")
    await expect(pane.message("second").first.locator(".quote")).to_contain_text("You said: first")


async def test_each_forum_topic_is_a_conversation_of_its_own(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    await pane.chat("# Ideas").click()
    await pane.say("@kabar_simulator_bot an idea")
    await expect(pane.newest).to_contain_text("You said:")
    await pane.chat("# Support").click()
    await expect(pane.messages).to_have_count(0)
    assert [message.thread for message in stage.simulator.telegram.messages("-1000000003001")] == ["2", "2"]


async def test_an_answer_elsewhere_is_counted_until_it_is_seen(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    await pane.chat("Trip to Bromo").click()
    await stage.simulator.telegram.say("1001", "ann", "hi")
    await expect(pane.chat("Kabar").get_by_label("1 new")).to_be_visible()
    await pane.chat("Kabar").click()
    await expect(pane.root.get_by_label("1 new")).to_have_count(0)


async def test_a_half_written_message_waits_in_its_chat(open_page: Open) -> None:
    pane = telegram_of(await open_page())
    await pane.text.fill("half a thought")
    await pane.chat("Trip to Bromo").click()
    await expect(pane.text).to_have_value("")
    await pane.chat("Kabar").click()
    await expect(pane.text).to_have_value("half a thought")


async def test_a_refused_update_says_so(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    stage.bot.status = 401
    for pane in (telegram_of(page), slack_of(page)):
        await pane.say("hello")
        await expect(pane.newest).to_contain_text("The bot refused this update: 401")


async def test_an_update_being_repeated_says_so_until_the_bot_takes_it(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    stage.bot.status = 500
    await pane.say("hello")
    await expect(pane.newest).to_contain_text("The bot answered 500; being repeated")
    stage.bot.status = 200
    await expect(pane.message("hello").first.get_by_role("img", name="Accepted by the bot")).to_be_visible()
    await expect(pane.root.get_by_text("being repeated")).to_have_count(0)


async def test_the_banner_says_when_a_demo_model_answers(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    banner = page.get_by_text("Demo model: a small script, not an AI. Set ANTHROPIC_API_KEY to talk to Claude.")
    stage.simulator.world.set_model(demo=True, name="demo")
    await expect(banner).to_be_visible()
    stage.simulator.world.set_model(demo=False, name="claude-sonnet-5-5")
    await expect(banner).to_be_hidden()
    await expect(page.get_by_role("status").first).to_contain_text("claude-sonnet-5-5")


async def test_an_answer_is_read_out_once_it_has_come_to_rest_and_nobody_elses(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    await page.evaluate(
        """() => {
          window.read = [];
          const region = document.getElementById('announcer');
          new MutationObserver(() => read.push(region.textContent)).observe(region, { childList: true });
        }"""
    )
    await stage.simulator.telegram.say("1002", "budi", "between us")
    await stage.simulator.telegram.wait_for(lambda message: message.text == "You said: between us")
    await telegram_of(page).say("hello")
    await expect(page.locator("#announcer")).to_have_text("Kabar: You said: hello")
    assert await page.evaluate("read") == ["Kabar: You said: hello"]


async def test_a_fault_can_be_added_and_its_effect_is_seen(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    await page.get_by_role("button", name="Behind the scenes").click()
    scenes = page.get_by_role("complementary", name="Behind the scenes")
    await scenes.get_by_role("tab", name="Platforms").click()
    await scenes.get_by_label("What happens").select_option("Server error (500)")
    await scenes.get_by_role("button", name="Add").click()
    await expect(scenes.get_by_text("telegram sendMessage: answers 500, 1 more")).to_be_visible()
    await telegram_of(page).say("hello")
    await expect(scenes.get_by_role("listitem").filter(has_text="sendMessage")).to_contain_text("status 500")
    await expect(scenes.get_by_text("1 more")).to_have_count(0)


async def test_a_command_is_offered_and_completed_with_tab(open_page: Open, stage: Stage) -> None:
    stage.simulator.world.commands[:] = [{"command": "new", "description": "Start afresh"}]
    pane = telegram_of(await open_page())
    await pane.text.press_sequentially("/n")
    await expect(pane.root.get_by_role("button", name="/new Start afresh")).to_be_visible()
    await pane.text.press("Tab")
    await expect(pane.text).to_have_value("/new ")


async def test_a_chat_can_be_clicked_while_an_answer_streams_in(open_page: Open) -> None:
    pane = telegram_of(await open_page())
    tab = await pane.chat("Kabar").element_handle()
    assert tab
    await pane.say("hello")
    await expect(pane.chat("Kabar")).to_contain_text("Kabar: You said: hello")
    # A browser gives a click to nobody where the element pressed is no longer there when the button comes up.
    assert await tab.evaluate("tab => tab.isConnected")


async def test_an_alert_stays_until_it_is_closed(open_page: Open, stage: Stage) -> None:
    page = await open_page(own=True)
    await page.clock.install()
    stage.simulator.world.notice("Read this first.", alert=True)
    stage.simulator.world.notice("Only so you know.")
    await expect(page.get_by_text("Only so you know.")).to_be_visible()
    await page.clock.run_for(60_000)
    await expect(page.get_by_text("Only so you know.")).to_have_count(0)
    alert = page.locator(".notice").filter(has_text="Read this first.")
    await alert.get_by_role("button", name="Close").click()
    await expect(alert).to_have_count(0)


async def test_a_typing_sign_ends_by_itself(open_page: Open, stage: Stage) -> None:
    pane = telegram_of(await open_page())
    stage.simulator.world.sign("telegram", "1001", "", "typing…", 0.7)
    await expect(pane.root.get_by_text("Kabar is typing")).to_be_visible()
    await expect(pane.root.get_by_text("Kabar is typing")).to_have_count(0)


async def test_the_state_of_the_bot_is_always_in_sight(open_page: Open, stage: Stage) -> None:
    page = await open_page()
    status = page.get_by_role("status").first
    await expect(status).to_contain_text("Nothing sent to the bot yet")
    await telegram_of(page).say("hello")
    await expect(status).to_contain_text("Bot connected")
    stage.simulator.world.set_bot("restarting")
    await expect(status).to_contain_text("The bot is being restarted")


async def test_reading_further_up_is_not_disturbed_by_new_messages(open_page: Open, stage: Stage) -> None:
    for n in range(30):
        await stage.simulator.telegram.say("1001", "ann", f"line {n}")
    pane = telegram_of(await open_page())
    log = pane.root.get_by_role("log")
    await expect(pane.newest).to_be_in_viewport()
    await log.evaluate("log => log.scrollTop = 0")
    await stage.simulator.telegram.say("1001", "ann", "the newest")
    await expect(pane.message("the newest").first).to_be_attached()
    await expect(pane.messages.first).to_be_in_viewport()
    await pane.root.get_by_role("button", name="Go to the newest message").click()
    await expect(pane.newest).to_be_in_viewport()


async def test_what_one_says_oneself_comes_into_view(open_page: Open, stage: Stage) -> None:
    slack = stage.simulator.slack
    root = await slack.say("C0GENERAL", "ann", "the root")
    for n in range(30):
        await slack.say("C0GENERAL", "ann", f"line {n}")
    pane = slack_of(await open_page())
    await pane.chat("#general").click()
    await expect(pane.newest).to_be_in_viewport()
    for n in range(30):
        await slack.say("C0GENERAL", "ann", f"reply {n}", root.id)
    await pane.button("30 replies").click()
    await expect(pane.newest).to_be_in_viewport()
    await pane.log.evaluate("log => log.scrollTop = 0")
    await pane.say("in the thread")
    await expect(pane.message("in the thread")).to_be_in_viewport()
    assert slack.messages("C0GENERAL")[-1].thread == root.id


async def test_what_goes_on_in_slack_has_all_the_width_below_its_first_line(open_page: Open, stage: Stage) -> None:
    for n in range(2):
        await stage.simulator.slack.say("C0GENERAL", "ann", f"{n} " + "word " * 60)
    pane = slack_of(await open_page(viewport=PHONE))
    await pane.page.get_by_role("tab", name="Slack").click()
    await pane.chat("#general").click()
    heights = await pane.messages.locator(".text").evaluate_all("texts => texts.map(text => text.clientHeight)")
    assert heights[0] == heights[1]
