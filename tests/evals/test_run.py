"""What a task can set up, say and check, each shown where it holds and where it does not."""

from pathlib import Path

import pytest

from bot.cli.evals.solutions import Solver, run_with
from bot.cli.evals.tasks import read_tasks
from bot.errors import ConfigError
from bot.messages import Answered, Asked
from handlers.settings import Settings
from tests.evals.written import faults_of, played, write


async def test_each_step_is_held_to_what_it_must_show_and_do(tmp_path: Path) -> None:
    faults = await faults_of(
        tmp_path,
        """
        why: to see
        steps:
          - {say: hello, expect: [good], reject: [bad]}
          - {say: hello, expect: [the moon], reject: [day], uses: [calculator], avoids: [current_time],
             at_most: {current_time: 1}}
        solution:
          - Good morning.
          - - current_time: {zone: UTC}
            - current_time: {zone: Asia/Jakarta}
          - A fine day.
        """,
    )

    assert faults == (
        "step 2: 'the moon' is not in 'A fine day.'",
        "step 2: 'day' is in 'A fine day.'",
        "step 2: calculator was not used",
        "step 2: current_time was called",
        "step 2: current_time was called 2 times, not 1 at most",
    )


async def test_a_call_that_failed_does_not_count_as_use(tmp_path: Path) -> None:
    faults = await faults_of(
        tmp_path,
        """
        why: to see
        steps: [{say: divide, uses: [calculator]}]
        solution: [{calculator: {expression: 1 / 0}}, It can not be done.]
        """,
    )

    assert faults == ("step 1: calculator was not used",)


async def test_a_step_is_said_as_often_as_it_says(tmp_path: Path) -> None:
    trial = await played(
        tmp_path,
        """
        why: to see
        steps: [{say: "number {number}", times: 3, expect: ['1|3']}]
        solution: ["1", "2", "3"]
        """,
    )

    said = [each.entry.said[0].text for each in trial.entries["eval:ann"] if isinstance(each.entry, Asked)]
    assert said == ["number 1", "number 2", "number 3"]
    assert trial.faults == ("step 1, time 2: '1|3' is not in '2'",)


async def test_the_clock_begins_where_the_task_says_in_the_first_person_s_zone(tmp_path: Path) -> None:
    task = """
        why: to see
        now: 2030-06-03T23:30
        people: {sari: {name: Sari, language: id, zone: Asia/Jakarta}}
        steps: [{say: hari apa?, expect: [Monday 2030-06-03 23]}]
        solution: [{current_time: {zone: Asia/Jakarta}}, '{{^(.*)$}}']
        """
    assert await faults_of(tmp_path, task) == ()


async def test_what_is_set_remembered_and_said_beforehand_is_there(tmp_path: Path) -> None:
    trial = await played(
        tmp_path,
        """
        why: to see
        now: 2030-06-03T10:00
        people: {ann: {name: Ann, zone: Europe/Berlin}}
        memory: {ann: [Ann rows.]}
        reminders: [{text: Row, when: 2030-06-04T06:00, repeat: weekly}]
        earlier: [{say: My boat is red., answer: A fine boat.}]
        steps: [{say: what do you know?, expect: [Ann rows, 'Row$', red]}]
        solution: [{list_reminders: }, '{{(Ann rows)}} {{boat is (red)}} {{told on .*: (Row)}}']
        """,
    )

    assert trial.faults == ()
    assert trial.measures.turns == 1  # what was over before is not measured


async def test_people_of_a_group_are_told_apart_and_have_one_memory(tmp_path: Path) -> None:
    trial = await played(
        tmp_path,
        """
        why: to see
        people: {ann: {name: Ann}, tom: {name: Tom, language: id}}
        memory: {club: [We meet on Mondays.]}
        steps:
          - {say: remember the boat, by: tom, group: club, uses: [remember]}
          - {say: and mine alone, by: tom, uses: [remember]}
        checks:
          - remembered: {of: club, has: [Mondays, boat], lacks: mine}
          - remembered: {of: tom, has: mine, most: 1}
          - remembered: {of: ann, most: 0}
        solution: [{remember: {fact: The boat.}}, ok, {remember: {fact: Tom's mine.}}, ok]
        """,
    )

    assert trial.faults == ()
    assert sorted(trial.entries) == ["eval:group-club", "eval:tom"]


@pytest.mark.parametrize(("answer", "fault"), [("yes", ()), ("no", ("step 1: remind was not used",))])
async def test_what_asks_first_gets_the_answer_that_the_step_says(
    tmp_path: Path, answer: str, fault: tuple[str, ...]
) -> None:
    trial = await played(
        tmp_path,
        f"""
        why: to see
        files: {{a.txt: the party is on the 5th}}
        steps: [{{say: remind me, files: [a.txt], approve: {answer}, uses: [remind]}}]
        checks: [asked_first: [remind, party, in 2 days]]
        solution: [{{remind: {{text: party, when: in 2 days}}}}, I tried.]
        """,
    )

    assert trial.faults == fault
    assert trial.measures.denied == (answer == "no")


async def test_a_guest_may_use_the_guests_tools_only(tmp_path: Path) -> None:
    trial = await played(
        tmp_path,
        """
        why: to see
        people: {ann: {name: Ann}, gus: {name: Gus, role: guest}}
        steps: [{say: remember and count, by: gus, group: club, uses: [remember, calculator]}]
        solution: [{calculator: {expression: 1 + 1}, remember: {fact: x}}, Done.]
        """,
    )

    assert trial.faults == ("step 1: remember was not used",)
    assert (trial.measures.denied, trial.measures.tool_errors) == (1, 0)


async def test_a_file_beside_the_task_is_read_as_a_file_that_somebody_sends(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("The code is 4711.")
    task = """
        why: to see
        files: {letter.md: {from: note.md}}
        steps: [{say: what is the code?, files: [letter.md], expect: ['4711']}]
        solution: [{read_file: {name: letter.md}}, '{{code is (\\d+)}}']
        """
    assert await faults_of(tmp_path, task) == ()


async def test_files_that_were_sent_are_checked_by_name_and_text(tmp_path: Path) -> None:
    faults = await faults_of(
        tmp_path,
        """
        why: to see
        steps: [{say: write}]
        checks:
          - sent: {name: list, has: eggs, lacks: milk}
          - sent: {name: list, has: milk}
          - sent: {name: other}
          - nothing_sent: true
        solution: [{write_file: {name: list.txt, content: eggs}}, Done.]
        """,
    )

    assert [fault.partition(":")[0] for fault in faults] == ["sent", "sent", "nothing_sent"]


async def test_only_the_tools_that_a_task_names_are_there(tmp_path: Path) -> None:
    trial = await played(
        tmp_path,
        """
        why: to see
        tools: [calculator]
        steps: [{say: remember, uses: [remember]}]
        solution: [{remember: {fact: x}}, Done.]
        """,
    )

    assert trial.faults == ("step 1: remember was not used",)
    assert trial.measures.wrong == 1


async def test_a_tool_that_there_is_not_is_named_with_the_task(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="task: No tools: abacus"):
        await faults_of(tmp_path, "{why: x, steps: [{say: a, expect: [a]}], tools: [abacus], solution: [a]}")


async def test_a_page_of_the_task_s_own_web_is_opened(tmp_path: Path) -> None:
    task = """
        why: to see
        web: {news.localhost: {/rain: <html><body><main><p>Rain until Friday.</p></main></body></html>}}
        steps: [{say: "What does http://news.localhost:{port}/rain say?", expect: [Friday], uses: [web_fetch]}]
        solution: [{web_fetch: {url: 'http://news.localhost:{{localhost:(\\d+)}}/rain'}}, '{{until (\\w+)}}']
        """
    assert await faults_of(tmp_path, task) == ()


async def test_numbers_are_found_in_both_notations(tmp_path: Path) -> None:
    faults = await faults_of(
        tmp_path,
        """
        why: to see
        steps: [{say: how much?}]
        checks: [says_number: 1234.5, says_number: 12500000, says_number: 7, says_number: 99]
        solution: ["1.234,50 and 12,500,000 and 7."]
        """,
    )

    assert [fault.partition(" was")[0] for fault in faults] == ["says_number: 99"]


async def test_reminders_are_checked_by_time_text_and_recurrence(tmp_path: Path) -> None:
    faults = await faults_of(
        tmp_path,
        """
        why: to see
        now: 2030-06-03T10:00
        people: {ann: {name: Ann, zone: Asia/Jakarta}}
        steps: [{say: remind me}]
        checks:
          - reminder: {text: swim, at: 2030-06-04T07:00, repeat: WEEKLY, asks: false}
          - reminder: {text: swim, at: 2030-06-04T00:00:00+00:00}
          - reminder: {text: swim, at: 2030-06-04T08:00}
          - reminder: {text: swim, once: true}
          - reminder: {text: run}
          - no_reminder: swim
          - reminders: 2
        solution: [{remind: {text: Swim, when: 2030-06-04T07:00, repeat: weekly}}, Set.]
        """,
    )

    assert [fault.partition(":")[0] for fault in faults] == [*["reminder"] * 3, "no_reminder", "reminders"]


async def test_what_was_done_is_checked_over_the_whole_conversation(tmp_path: Path) -> None:
    faults = await faults_of(
        tmp_path,
        """
        why: to see
        steps: [{say: go on}]
        checks:
          - in_order: [calculator, remember]
          - in_order: [remember, calculator]
          - called: {tool: remember, has: boat, lacks: key}
          - called: {tool: remember, has: key}
          - never_passed_on: boat
          - nothing_written: true
          - at_least: 2
          - at_least: 3
        solution: [{calculator: {expression: 1 + 1}}, {remember: {fact: the boat}}, Done.]
        """,
    )

    assert [fault.partition(":")[0] for fault in faults] == [
        "in_order",
        "called",
        "never_passed_on",
        "nothing_written",
        "at_least",
    ]


async def test_a_task_brings_a_check_of_its_own_in_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(
        "async def rhymes(outcome, value):\n    return [] if outcome.shown.endswith(value) else ['it does not rhyme']\n"
    )
    task = """
        why: to see
        steps: [{say: a rhyme on moon}]
        checks: [rhymes: oon, rhymes: un]
        solution: [Very soon]
        """
    assert await faults_of(tmp_path, task) == ("rhymes: it does not rhyme",)


async def test_a_check_that_is_given_the_wrong_things_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="task: the check reminders can not take"):
        await faults_of(tmp_path, "{why: x, steps: [{say: a}], checks: [reminders: {many: 2}], solution: [a]}")


async def test_a_check_that_breaks_is_a_fault_of_its_run_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text("def odd(outcome, value):\n    return [outcome.sent[value]]\n")
    write(tmp_path, "other", "{why: x, steps: [{say: a, expect: [hello]}], solution: [hello]}")
    write(tmp_path, "task", "{why: x, steps: [{say: a}], checks: [odd: a.txt], solution: [hello]}")
    trials = await run_with(Solver, read_tasks(tmp_path), Settings())

    assert [each.faults for each in trials] == [(), ("the run broke: KeyError: 'a.txt'",)]


async def test_checks_that_can_not_be_loaded_are_named(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text("def odd(:")
    with pytest.raises(ConfigError, match=r"task\.py can not be loaded: SyntaxError"):
        await faults_of(tmp_path, "{why: x, steps: [{say: a, expect: [a]}], solution: [a]}")


async def test_what_the_owner_set_for_their_own_chats_does_not_change_a_task(tmp_path: Path) -> None:
    write(
        tmp_path,
        "task",
        """
        why: to see
        files: {a.txt: the party is on the 5th}
        steps: [{say: remind me, files: [a.txt]}, {say: count, uses: [calculator]}]
        checks: [reminders: 0, asked_first: remind]
        solution:
          - remind: {text: party, when: in 2 days}
          - I tried.
          - calculator: {expression: 1 + 1}
          - "2"
        """,
    )
    settings = Settings(
        kabar_never_ask="remind",
        kabar_ask_first="calculator",
        kabar_budget_day=0.000001,
        telegram_bot_token="1:a",
        kabar_owner="telegram:1",
    )
    [trial] = await run_with(Solver, read_tasks(tmp_path), settings)

    assert trial.faults == ()


async def test_a_setting_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"task\.yaml:1: No settings: KABAR_MOOD"):
        await faults_of(
            tmp_path, "{why: x, steps: [{say: a, expect: [a]}], settings: {KABAR_MOOD: good}, solution: [a]}"
        )


async def test_a_model_that_fails_is_a_fault_of_the_run_and_told_apart(tmp_path: Path) -> None:
    from simulator.model_reply import Refusal

    write(tmp_path, "task", "{why: x, steps: [{say: a, expect: [hello]}]}")
    [trial] = await run_with(lambda task: lambda request: Refusal(400, "invalid"), read_tasks(tmp_path), Settings())

    assert not trial.passed
    assert trial.measures.failed == 1


async def test_runs_share_nothing_and_come_back_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(
            tmp_path,
            name,
            """
            why: to see
            steps: [{say: remember}]
            checks: [remembered: {of: ann, most: 1}]
            solution: [{remember: {fact: "{{(remember)}}"}}, Done.]
            """,
        )
    trials = await run_with(Solver, read_tasks(tmp_path), Settings(), repeat=3, jobs=2)

    assert [(trial.task.name, trial.number) for trial in trials] == [(name, n) for name in "ab" for n in (1, 2, 3)]
    assert all(trial.passed for trial in trials)


async def test_nothing_of_a_run_is_left_in_the_owner_s_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    task = "{why: x, steps: [{say: a, expect: [a]}], solution: [{write_file: {name: a.txt, content: a}}, a]}"
    trial = await played(tmp_path, task)

    assert trial.passed
    assert sum(isinstance(each.entry, Answered) for each in trial.entries["eval:ann"]) == 2
    assert not (tmp_path / ".data").exists()
