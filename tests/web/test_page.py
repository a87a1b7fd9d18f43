"""Pages as Markdown, by the real reader."""

import pytest

from bot.web.page import LONGEST_TITLE, Page, Source, decoded, read

ADDRESS = "https://news.example/economy/rice"


def of(body: str, head: str = "") -> Page:
    """The page with enough words beside ``body`` that nothing is taken from its frame."""
    filler = "<p>" + "Rice was dear this week. " * 10 + "</p>"
    return read(Source(f"<html><head>{head}</head><body>{body}{filler}</body></html>".encode(), ADDRESS, "utf-8"))


def text_of(body: str) -> str:
    return of(body).text.partition("Rice was dear this week.")[0].strip()


@pytest.mark.parametrize(
    ("written", "markdown"),
    [
        ("<h2>Prices</h2><p>A <b>bold</b> and <i>odd</i> word</p>", "## Prices\n\nA **bold** and *odd* word"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        (
            "<table><tr><th>City</th><th>Price</th></tr><tr><td>Malang</td><td>14</td></tr></table>",
            "| City | Price |\n| --- | --- |\n| Malang | 14 |",
        ),
        ('<pre><code class="language-python">x = 1\ny = 2</code></pre>', "```python\nx = 1\ny = 2\n```"),
        ("<blockquote><p>Said so</p></blockquote>", "> Said so"),
        ("<p>a &lt;b&gt; &amp; c</p>", "a <b> & c"),
    ],
)
def test_what_a_page_says_keeps_its_form(written: str, markdown: str) -> None:
    assert text_of(written) == markdown


@pytest.mark.parametrize(
    ("written", "markdown"),
    [
        ('<p><a href="/b?x=1&amp;y=2">on</a></p>', "[on](https://news.example/b?x=1&y=2)"),
        ('<p><a href="more">on</a></p>', "[on](https://news.example/economy/more)"),
        ('<p><a href="//cdn.example/x">on</a></p>', "[on](https://cdn.example/x)"),
        ('<p><img src="a.png" alt="A chart"></p>', "![A chart](https://news.example/economy/a.png)"),
        ('<p>x <img src="pixel.gif"></p>', "x"),
        ('<p>x <img src="data:image/png;base64,AAAA" alt="y"></p>', "x y"),
        ('<p><a href="javascript:alert(1)">on</a></p>', "on"),
    ],
)
def test_links_and_pictures_lead_to_whole_addresses_or_nowhere(written: str, markdown: str) -> None:
    assert text_of(written) == markdown


@pytest.mark.parametrize(
    "written",
    [
        "<script>var hidden = 1</script>",
        "<style>hidden {}</style>",
        "<!-- hidden -->",
        '<p style="display:none">hidden</p>',
        '<p style="visibility: hidden">hidden</p>',
        "<p hidden>hidden</p>",
        '<div aria-hidden="true">hidden</div>',
        "<template><p>hidden</p></template>",
        "<noscript>hidden</noscript>",
        '<input type="hidden" value="hidden">',
        "<nav><a href='/'>hidden</a></nav>",
        "<footer>hidden</footer>",
        '<div role="navigation">hidden</div>',
        '<div id="onetrust-consent-sdk">hidden</div>',
        "<p title='hidden'></p>",
    ],
)
def test_what_a_reader_does_not_see_or_look_for_is_not_told(written: str) -> None:
    assert "hidden" not in of(written).text


def test_a_page_that_has_nothing_but_menus_is_told_as_it_is() -> None:
    page = read(Source(b"<nav><a href='/a'>First</a> <a href='/b'>Second</a></nav>", ADDRESS))

    assert "[First](https://news.example/a)" in page.text and "[Second]" in page.text


def test_a_page_that_must_be_run_has_no_text() -> None:
    assert read(Source(b"<div id=root></div><script>render()</script>", ADDRESS)).text == ""


def test_its_title_is_one_line() -> None:
    assert of("", "<title>\n Rice &amp; more\n |  News </title>").title == "Rice & more | News"
    assert len(of("", f"<title>{'long ' * 1_000}</title>").title) <= LONGEST_TITLE
    assert of("").title == ""


@pytest.mark.parametrize(
    ("data", "charset"),
    [
        ("Müller, Bücher".encode("iso-8859-1"), "ISO-8859-1"),
        ("<meta charset='windows-1252'>Müller, Bücher".encode("cp1252"), ""),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">' + "Müller".encode("cp1252"),
            "",
        ),
        ("Müller, Bücher".encode(), ""),
        ("Müller, Bücher".encode(), "no-such-encoding"),
        ("Müller, Bücher".encode(), "rot13"),
        ("Müller, Bücher".encode(), "idna\x00"),
        ("Müller, Bücher".encode("utf-8-sig"), "iso-8859-1"),
        ("Müller, Bücher".encode("utf-16"), ""),
        ("<meta charset=utf-8>Müller – „Bücher“".encode(), ""),
    ],
)
def test_a_page_is_read_in_its_own_encoding(data: bytes, charset: str) -> None:
    assert "Müller" in decoded(data, charset)


def test_japanese_is_read_by_what_the_page_says() -> None:
    assert "日本語" in decoded('<meta charset="Shift_JIS"><p>日本語</p>'.encode("shift_jis"), "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<",
        b"<div>" * 100_000 + b"x",
        b"<b>" * 200_000 + b"x",
        b"<table><tr><td>" * 5_000 + b"x",
        b"<ul><li>" * 20_000 + b"x",
        b"<!--" * 200_000,
        b"<a href='" + b"x" * 1_000_000,
        b"[](" * 100_000,
        b"<p>![](" * 50_000,
        b"<title " * 100_000,
        b"<meta " * 100_000,
        b"&" * 500_000,
        b"\0\xff\xfe" * 1_000,
        b"<table><tr><td colspan=1000000 rowspan=1000000>x</table>",
        "<p>\ud800</p>".encode("utf-8", "surrogatepass"),
    ],
)
def test_broken_and_hostile_pages_are_read_like_any_other(data: bytes) -> None:
    page = read(Source(data, ADDRESS))

    page.text.encode()
    page.title.encode()
