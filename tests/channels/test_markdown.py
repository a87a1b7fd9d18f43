"""What a person sees of a model's Markdown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels.characters import is_blank
from bot.channels.markdown import Flat, Span, flatten
from bot.channels.splitting import split
from bot.ports import NOTHING_TO_SHOW
from tests.channels.visible import squeezed

MARKDOWN = st.text(st.sampled_from("ab_ \n*`~#>|-[]()!1.\\<&;😀é"), max_size=400) | st.text(max_size=200)


def styled(flat: Flat) -> list[tuple[str, str, str]]:
    return [(span.style, flat.text[span.start : span.end], span.detail) for span in flat.spans]


def parts_of(flat: Flat, limit: int, most_spans: int = 100) -> list[Flat]:
    return split(flat, limit, most_spans, len)


def test_font_styles_code_and_links_become_spans_over_plain_text() -> None:
    flat = flatten("**bold _both_** `co*de` ~~gone~~ [doc](https://e.example/?a=1&b=2)")

    assert flat.text == "bold both co*de gone doc"
    assert styled(flat) == [
        ("bold", "bold both", ""),
        ("italic", "both", ""),
        ("code", "co*de", ""),
        ("strike", "gone", ""),
        ("link", "doc", "https://e.example/?a=1&b=2"),
    ]


def test_underscores_in_identifiers_and_addresses_are_left_alone() -> None:
    flat = flatten("See [doc](https://e.example/a_b_c) and user_id_field, __init__, https://e.example/x_y_z")

    assert flat.text == "See doc and user_id_field, __init__, https://e.example/x_y_z"
    assert styled(flat) == [("link", "doc", "https://e.example/a_b_c")]


def test_bold_of_underscores_around_more_than_one_name_is_bold() -> None:
    assert styled(flatten("__very bold__")) == [("bold", "very bold", "")]


@pytest.mark.parametrize("text", ["5 * 3 = 15 and _foo `bar", "**half", "[a](b", "~~x", "a < b && c > d <b>ok</b>"])
def test_half_open_markup_and_html_are_text(text: str) -> None:
    assert flatten(text) == Flat(text)


def test_headings_are_bold_and_code_in_them_stays_code() -> None:
    flat = flatten("## Use `x` now\ntext")

    assert flat.text == "Use x now\ntext"
    assert styled(flat) == [("bold", "Use ", ""), ("code", "x", ""), ("bold", " now", "")]


def test_bold_inside_bold_is_marked_once_on_both_sides_of_code() -> None:
    assert styled(flatten("# a **b `c` d** e")) == [("bold", "a b ", ""), ("code", "c", ""), ("bold", " d e", "")]


def test_lists_keep_their_numbers_bullets_indent_and_tasks() -> None:
    flat = flatten("3. three\n4. four\n   - deep\n     - deeper\n\n- [ ] open\n- [x] done\n  more")

    assert flat.text == "3. three\n4. four\n   • deep\n     • deeper\n\n☐ open\n☑ done\n  more"


def test_a_table_becomes_even_columns_without_markup() -> None:
    flat = flatten("| name | n |\n|---|--:|\n| **Ann** | 2 |\n| 漢字 | 10 |")

    assert styled(flat) == [("pre", "name │  n\n─────┼───\nAnn  │  2\n漢字 │ 10", "")]


WIDE = "| Plan | What you get |\n|---|---|\n| **Free** | one workspace and a week of history |\n| Team | |"


def test_a_table_too_wide_for_a_phone_is_told_row_for_row() -> None:
    flat = flatten(WIDE)

    assert flat.text == "Plan: Free\nWhat you get: one workspace and a week of history\n\nPlan: Team\nWhat you get: –"
    assert styled(flat) == [("bold", "Plan: Free", ""), ("bold", "Plan: Team", "")]


def test_a_table_with_links_is_told_row_for_row_so_that_they_can_be_opened() -> None:
    assert styled(flatten("| a | b |\n|---|---|\n| x | [l](https://e.example/) |")) == [
        ("bold", "a: x", ""),
        ("link", "l", "https://e.example/"),
    ]


def test_a_table_written_from_right_to_left_is_told_row_for_row() -> None:
    assert flatten("| שם | n |\n|---|---|\n| עט | 3 |").text == "שם: עט\nn: 3"


def test_a_head_without_rows_is_still_a_table() -> None:
    assert flatten("| " + "a" * 30 + " | " + "b" * 30 + " |\n|---|---|").text.startswith("a" * 30)


def test_a_list_counts_on_from_its_first_number() -> None:
    assert flatten("0. a\n0. b").text == "0. a\n1. b"
    assert flatten("1) a\n1) b").text == "1) a\n2) b"


def test_boxes_in_a_list_begin_at_the_margin() -> None:
    flat = flatten("1. do\n   ```sh\n   ls\n     -l\n   ```\n   then\n2. ```\n   x\n   ```\n3. a\n   > b\n   > c")

    assert flat.text == "1. do\nls\n  -l\n   then\n2.\nx\n3. a\nb\nc"
    assert styled(flat) == [("pre", "ls\n  -l", "sh"), ("pre", "x", ""), ("quote", "b\nc", "")]


def test_tabs_in_code_become_spaces() -> None:
    assert flatten("```go\n\tx\ny\tz\n```").text == "    x\ny   z"


def test_a_line_break_of_html_is_one_but_not_in_code() -> None:
    assert flatten("a<br>b<br/>c `<br>` <b>").text == "a\nb\nc <br> <b>"


@pytest.mark.parametrize(
    "source", [">" * 150 + " deep", "- " * 80 + "deep", "".join("  " * n + f"- {n}\n" for n in range(70))]
)
def test_what_is_nested_too_deep_for_the_parser_is_shown_as_it_is(source: str) -> None:
    assert flatten(source).text == source


def test_a_code_block_keeps_its_language_and_its_characters() -> None:
    flat = flatten("Look:\n```python title=x\nif a < b:\n    print('*')\n```\ndone")

    assert flat.text == "Look:\nif a < b:\n    print('*')\ndone"
    assert styled(flat) == [("pre", "if a < b:\n    print('*')", "python")]


def test_a_code_block_that_is_still_open_is_code() -> None:
    assert styled(flatten("```js\nlet a = 1")) == [("pre", "let a = 1", "js")]


def test_quotes_are_marked_once_however_deep_they_are() -> None:
    flat = flatten("> said **so**\n> > before\n\nI agree")

    assert flat.text == "said so\nbefore\n\nI agree"
    assert styled(flat) == [("quote", "said so\nbefore", ""), ("bold", "so", "")]


def test_an_image_is_a_link_and_never_loaded() -> None:
    assert styled(flatten("![a cat](https://e.example/c.png)")) == [("link", "a cat", "https://e.example/c.png")]


@pytest.mark.parametrize(
    ("markdown", "seen"),
    [
        ("[Ann](tg://user?id=42)", "Ann (tg://user?id=42)"),
        ("[here](/relative)", "here (/relative)"),
        ("[local](http://localhost:8080/)", "local (http://localhost:8080/)"),
        ("<ann@e.example>", "ann@e.example"),
    ],
)
def test_a_link_that_a_chat_does_not_open_shows_where_it_leads(markdown: str, seen: str) -> None:
    assert flatten(markdown) == Flat(seen)


@pytest.mark.parametrize("text", ["", "  \n", "\u200b\u2060\ufeff", "<!-- thinking -->", "```\n```", "\u00ad"])
def test_an_answer_nobody_would_see_becomes_one_sign(text: str) -> None:
    assert flatten(text) == Flat(NOTHING_TO_SHOW)


def test_an_html_comment_inside_a_code_block_is_shown() -> None:
    assert flatten("```html\n<!-- x -->\n```").text == "<!-- x -->"


def test_half_a_surrogate_pair_does_not_stop_the_answer() -> None:
    assert flatten("cut \ud83d here").text == "cut � here"


def test_markup_left_open_in_a_long_paragraph_does_not_style_what_was_already_sent() -> None:
    beginning = "*start " + "word " * 1_000
    assert flatten(beginning + "end* more").piece(0, 4_000) == flatten(beginning).piece(0, 4_000)


@settings(deadline=None)
@given(MARKDOWN)
def test_every_span_is_a_real_range_and_spans_nest(markdown: str) -> None:
    flat = flatten(markdown)

    assert not is_blank(flat.text)
    assert list(flat.spans) == sorted(flat.spans, key=lambda span: (span.start, -span.end))
    open_spans: list[Span] = []
    for span in flat.spans:
        assert 0 <= span.start < span.end <= len(flat.text)
        open_spans = [outer for outer in open_spans if outer.end > span.start]
        assert all(outer.end >= span.end for outer in open_spans)
        assert all(outer.style not in ("code", "pre", span.style) for outer in open_spans)
        open_spans.append(span)


@settings(deadline=None)
@given(MARKDOWN, st.integers(4, 60), st.integers(5, 9))
def test_parts_joined_are_the_whole_text_within_every_limit(markdown: str, limit: int, most_spans: int) -> None:
    flat = flatten(markdown)
    parts = parts_of(flat, limit, most_spans)

    assert squeezed("".join(part.text for part in parts)) == squeezed(flat.text)
    assert all(len(part.text) <= limit and len(part.spans) <= most_spans for part in parts)
    assert not any(is_blank(part.text) for part in parts)


PIECES = ("word ", "**b** ", "`c` ", "\n\n", "\n- ", "\n```\n", "| a | b |\n", "[l](https://e.example)", "_", "*")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=120))
def test_parts_but_the_last_two_stay_as_they_are_while_the_text_grows(pieces: list[str]) -> None:
    text, settled = "", list[Flat]()
    for piece in pieces:
        text += piece
        parts = parts_of(flatten(text), 50)
        assert parts[: len(settled)] == settled
        settled = parts[:-2]


def test_a_cut_prefers_the_end_of_a_paragraph_then_of_a_line_then_of_a_word() -> None:
    assert [part.text for part in parts_of(Flat("aaaa aaa\n\nbbb bbb\ncc"), 14)] == ["aaaa aaa\n\n", "bbb bbb\ncc"]
    assert [part.text for part in parts_of(Flat("aaaa aaa\nbbb bbb"), 14)] == ["aaaa aaa\n", "bbb bbb"]
    assert [part.text for part in parts_of(Flat("aaaaaaaaa bbbbbbb"), 14)] == ["aaaaaaaaa ", "bbbbbbb"]


@pytest.mark.parametrize("whole", ["e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "🇮🇩"])
def test_a_cut_never_falls_inside_what_is_seen_as_one_character(whole: str) -> None:
    for lead in range(8, 12):
        parts = parts_of(Flat("x" * lead + whole + "y" * 10), 12)
        assert any(whole in part.text for part in parts)


def test_a_row_of_flags_is_cut_between_flags() -> None:
    assert [part.text for part in parts_of(Flat("🇮🇩" * 8), 5)] == ["🇮🇩🇮🇩"] * 4


def test_code_cut_in_two_is_code_of_the_same_language_in_both_parts() -> None:
    parts = parts_of(flatten("```py\n" + "x = 1\n" * 10 + "```"), 30)

    assert len(parts) == 2
    assert [part.spans for part in parts] == [(Span(0, len(part.text), "pre", "py"),) for part in parts]
