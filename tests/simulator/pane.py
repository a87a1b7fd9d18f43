"""One platform on the page, by what a person sees of it."""

from playwright.async_api import Locator, Page


class Pane:
    def __init__(self, page: Page, title: str) -> None:
        self.page = page
        self.title = title
        self.root = page.get_by_role("region", name=title, exact=True)
        self.log = self.root.get_by_role("log")
        self.messages = self.root.get_by_role("article")
        self.newest = self.messages.last
        self.text = self.root.get_by_role("textbox")
        self.files = self.root.locator("input[type=file]")

    def chat(self, title: str) -> Locator:
        return self.root.get_by_role("tab").filter(has=self.page.locator(".chat-title").get_by_text(title, exact=True))

    def message(self, text: str) -> Locator:
        return self.messages.filter(has_text=text)

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name)

    async def say(self, text: str) -> None:
        await self.text.fill(text)
        await self.text.press("Enter")

    async def use(self, message: Locator, tool: str) -> None:
        """Choose something from what is offered beside a message."""
        await message.focus()
        await message.get_by_role("button", name=tool, exact=True).click()

    async def attach(self, item: str) -> None:
        """Choose something from the menu beside the place to write."""
        await self.button("Attach").click()
        await self.root.get_by_role("menuitem", name=item).click()


def telegram_of(page: Page) -> Pane:
    return Pane(page, "Telegram")


def slack_of(page: Page) -> Pane:
    return Pane(page, "Slack")


async def become(page: Page, name: str) -> None:
    await page.get_by_role("radio", name=name).check(force=True)  # its picture lies over it
