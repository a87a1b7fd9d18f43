"""What earlier versions stored can still be read: fields come with a default, and are never renamed or taken away."""

from bot.messages import (
    Answered,
    Asked,
    Attachment,
    Bill,
    Button,
    ChatSettings,
    Ended,
    Fetched,
    File,
    Inbound,
    Part,
    Person,
    Place,
    Profile,
    Quote,
    Reply,
    Returned,
    Summary,
    ToolRun,
    Turn,
    Usage,
    Voted,
    decode_entry,
    decode_inbound,
    decode_profile,
    decode_settings,
    decode_tool_run,
    decode_turn,
    encode,
)

# As the first version wrote them.
PLACE = (
    b'{"conversation":"slack:T1:C1:1712.0001","chat":"C1","thread":"1712.0001","team":"T1","group":true,'
    b'"title":"general"}'
)
PERSON = b'{"id":"slack:T1:U1","name":"Zoe","language":"en"}'
INBOUND = (
    b'{"place":%b,"id":"Ev1","order":"1712.000100","sender":%b,"sent_at":1712,"text":"hello","native_id":"1712.0001",'
    b'"quote":{"text":"before","author":"Adi","ours":true},"attachments":[{"kind":"photo","id":"F1","name":"x.png",'
    b'"media_type":"image/png","size":9,"description":"a dog"}]}'
) % (PLACE, PERSON)
TURN = (
    b'{"id":"t1","place":%b,"asker":%b,"began":1,"first":1,"reply_to":"9","inbox":["1712.000100#Ev1"],'
    b'"parts":[{"state":"sent","id":"17"},{"state":"sending"}],"invocations":2,"failures":1,"reserved":5,'
    b'"bill":{"calls":1,"cost":7},"cheaper":true}'
) % (PLACE, PERSON)

place = Place("slack:T1:C1:1712.0001", "C1", "1712.0001", "T1", True, "general")
person = Person("slack:T1:U1", "Zoe", "en")
inbound = Inbound(
    place=place,
    id="Ev1",
    order="1712.000100",
    sender=person,
    sent_at=1712,
    text="hello",
    native_id="1712.0001",
    quote=Quote("before", "Adi", True),
    attachments=(Attachment("photo", "F1", "x.png", "image/png", 9, "a dog"),),
)


def test_a_message_is_read_as_it_was_and_counts_as_to_the_bot() -> None:
    assert decode_inbound(INBOUND) == inbound
    assert inbound.addressed


def test_a_running_turn_goes_on_as_it_was() -> None:
    assert decode_turn(TURN) == Turn(
        id="t1",
        place=place,
        asker=person,
        began=1,
        first=1,
        reply_to="9",
        inbox=("1712.000100#Ev1",),
        parts=(Part("sent", "17"), Part("sending")),
        invocations=2,
        failures=1,
        reserved=5,
        bill=Bill(calls=1, cost=7),
        cheaper=True,
    )


def test_every_entry_is_read_as_it_was() -> None:
    stored = {
        b'{"type":"asked","turn":"t1","said":[%b]}' % INBOUND: Asked("t1", (inbound,)),
        b'{"type":"answered","turn":"t1","reply":{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn",'
        b'"model":"m","usage":{"fresh":1,"cache_write":2,"cache_write_long":3,"cache_read":4,"output":5,"searches":6},'
        b'"spoiled":{"x":"{"}}}': Answered(
            "t1", Reply([{"type": "text", "text": "hi"}], "end_turn", "m", Usage(1, 2, 3, 4, 5, 6), {"x": "{"})
        ),
        b'{"type":"returned","turn":"t1","results":[{"type":"tool_result"}],"said":[%b],"note":"limit"}'
        % INBOUND: Returned("t1", ({"type": "tool_result"},), (inbound,), "limit"),
        b'{"type":"ended","turn":"t1","why":"failed","shown":"shown","fresh":true,"buttons":[{"label":"Retry",'
        b'"data":"again:t1"}]}': Ended("t1", "failed", "shown", fresh=True, buttons=(Button("Retry", "again:t1"),)),
        b'{"type":"summary","text":"s","upto":3,"block":{"type":"x"},"model":"m","usage":{"fresh":1}}': Summary(
            "s", 3, {"type": "x"}, "m", Usage(1)
        ),
    }
    assert [decode_entry(data) for data in stored] == list(stored.values())


def test_settings_and_tool_runs_are_read_as_they_were() -> None:
    settings = b'{"meanwhile":"queue","closed":true,"moved_from":"telegram:1","turn_cost":5}'
    assert decode_settings(settings) == ChatSettings("queue", True, "telegram:1", 5)
    assert decode_tool_run(b'{"call":"c","result":{"type":"tool_result"}}') == ToolRun("c", {"type": "tool_result"})


def test_what_only_a_newer_version_knows_is_passed_over() -> None:
    assert decode_inbound(INBOUND[:-1] + b',"mood":"cheerful"}') == inbound
    assert decode_profile(b'{"name":"Sari","shoe_size":38}') == Profile("Sari")


def test_what_is_new_comes_back_as_it_is_stored() -> None:
    fetched = Fetched("t1", ("file_1", "file_2"), (File("telegram:7/a", "a.png", "image/png", 9),), ("b.txt",))
    ran = Answered("t1", Reply([], "end_turn", usage=Usage(executions=2), container="container_1"))
    timed = Answered("t1", Reply([], "end_turn", took_ms=1_240)), Returned("t1", (), took_ms={"toolu_1": 30})
    for entry in (Voted("t1", "telegram:7", False), Voted("t1", "telegram:7", True), fetched, ran, *timed):
        assert decode_entry(encode(entry)) == entry
    profile = Profile("Sari", "id", "Asia/Jakarta", 5, ("Eats no peanuts.",), 3)
    assert decode_profile(encode(profile)) == profile
