"""What the provider's search found is shown as a list that the person can open."""

from bot.messages import Json
from bot.web.sources import Cited, cited, sources, spoken


def said(words: str, *citations: Json) -> Json:
    return {"type": "text", "text": words} | ({"citations": list(citations)} if citations else {})


def citation(address: str, title: str | None = "Rice") -> Json:
    return {
        "type": "web_search_result_location",
        "url": address,
        "title": title,
        "encrypted_index": "Eo8B",
        "cited_text": "Rice is dear",
    }


SEARCH: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rice"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
A, B = "https://a.example/rice", "https://b.example/(corn)"


def test_each_cited_page_is_named_once_in_the_order_of_the_sentences() -> None:
    blocks = [said("x", citation(B, None)), FOUND, said("y", citation(A), citation(B, "Corn"))]

    assert cited(blocks) == [Cited("", B), Cited("Rice", A)]
    assert sources(blocks, "Sumber") == f"**Sumber**\n- [b.example](https://b.example/%28corn%29)\n- [Rice]({A})"


def test_an_answer_without_citations_has_no_list() -> None:
    assert sources([said("x"), SEARCH, FOUND], "Sources") == ""
    assert spoken([said("x")]) == "x"


def test_a_page_that_the_answer_links_to_itself_is_not_named_again() -> None:
    assert sources([said(f"See [it]({A}).", citation(A))], "Sources") == ""


def test_what_can_not_be_opened_is_not_named() -> None:
    document: Json = {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": "plan.pdf"}
    odd = [citation("javascript:alert(1)"), citation("https://me:pw@a.example/"), document, citation("")]

    assert sources([said("x", *odd)], "Sources") == ""
    assert sources([said("x") | {"citations": None}, {"type": "text"}], "Sources") == ""


def test_a_title_can_not_lead_elsewhere() -> None:
    shown = sources([said("x", citation(A, "Rice](https://evil.example) ["))], "Sources")

    assert shown.endswith(f"- [Rice (https://evil.example)]({A})")


def test_sentences_that_come_in_blocks_of_their_own_are_one_text() -> None:
    blocks = [said("Let me look."), SEARCH, FOUND, said("Rice is "), said("14,000 rupiah", citation(A)), said(".")]

    assert spoken(blocks) == "Let me look.\n\nRice is 14,000 rupiah."
    assert sources(blocks, "Sources") == f"**Sources**\n- [Rice]({A})"


def test_a_long_list_ends_early() -> None:
    many = [citation(f"https://a.example/{number}") for number in range(30)]

    assert sources([said("x", *many)], "Sources").count("\n- ") == 8
