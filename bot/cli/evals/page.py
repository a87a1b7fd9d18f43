"""Results to be read: static HTML without scripts and without anything from elsewhere. One page for each run, an index,
and a comparison. What people and models said stands in it as text, never as markup of the page.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from bot.cli.evals.results import FILE
from bot.cli.evals.transcript import CALLS
from bot.cli.evals.trial import Trial
from bot.history import reply_text
from bot.messages import Answered, Asked, Ended, Entry, Inbound, Json, Numbered, Returned, Summary
from bot.notes import words_of

STYLE = """
:root { color-scheme: light dark; --ground: #f4f5f7; --card: #fff; --ink: #1b1f24; --soft: #5c6670; --line: #dde1e6;
  --good: #14703c; --good-ground: #dcf3e4; --bad: #b3261e; --bad-ground: #fbe3e1; --link: #0b5cad; --mine: #dcebfb; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1d2125; --ink: #e7eaee; --soft: #9aa4af;
  --line: #333a41; --good: #7fdca2; --good-ground: #143524; --bad: #ff9d95; --bad-ground: #43201d; --link: #85bcff;
  --mine: #1c3550; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.35rem; line-height: 1.25; margin: .5rem 0; } h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
p { margin: .5rem 0; } a { color: var(--link); } .soft, .soft a { color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .6rem; margin: 1rem 0; }
.figures div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .55rem .75rem; }
.figures dt { color: var(--soft); font-size: .82rem; } .figures dd { margin: 0; font-size: 1.1rem; font-weight: 600; }
dl { margin: 0; } .figures small { display: block; font-weight: 400; color: var(--soft); font-size: .78rem; }
.chips { list-style: none; padding: 0; margin: .6rem 0; display: flex; flex-wrap: wrap; gap: .35rem; }
.chips li { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .7rem;
  font-size: .88rem; } .chips b { font-weight: 600; }
.mark { display: inline-block; border-radius: 1rem; padding: 0 .6rem; font-size: .85rem; font-weight: 600;
  white-space: nowrap; }
.good { background: var(--good-ground); color: var(--good); } .bad { background: var(--bad-ground); color: var(--bad); }
.tasks { list-style: none; padding: 0; margin: 0; display: grid; gap: .5rem; }
.tasks > li { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .65rem .85rem; }
.tasks .head { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: baseline; }
.tasks .head b { font-size: 1rem; } .tasks p { margin: .2rem 0; font-size: .92rem; }
.faults { margin: .3rem 0 0; padding-left: 1.1rem; color: var(--bad); font-size: .88rem; }
.tag { color: var(--soft); font-size: .82rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; background: var(--card); font-size: .92rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; } td.n { text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.said { border-radius: .8rem; padding: .6rem .85rem; margin: .6rem 0; border: 1px solid var(--line);
  background: var(--card); max-width: 46rem; }
.said > :first-child { margin-top: 0; } .said > :last-child { margin-bottom: 0; }
.person { background: var(--mine); margin-left: auto; width: fit-content; } .ours { border-style: dashed; }
.who { color: var(--soft); font-size: .82rem; margin-bottom: .2rem; }
.words { white-space: pre-wrap; }
blockquote { border-left: 3px solid var(--line); margin: .4rem 0; padding-left: .7rem; color: var(--soft); }
details { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: .4rem 0;
  max-width: 46rem; }
summary { padding: .4rem .85rem; cursor: pointer; } details > pre, details > .who { margin: .3rem .85rem .7rem; }
pre { background: var(--ground); border-radius: .4rem; padding: .5rem .7rem; overflow-x: auto; white-space: pre-wrap;
  font-size: .85rem; } code { font-family: ui-monospace, monospace; font-size: .92em; }
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

LABELS = {
    "model_calls": "model calls",
    "tool_calls": "tool calls",
    "wrong": "wrong calls",
    "repeated": "repeated calls",
    "tool_errors": "tool errors",
    "denied": "denied",
    "prompt": "prompt tokens",
    "output": "output tokens",
    "cached": "from the cache",
    "cost": "cost",
    "seconds": "seconds",
    "turns": "turns",
    "failed": "failed turns",
}


def write_pages(folder: Path, results: Json, trials: Sequence[Trial]) -> None:
    """``index.html``, a page for each run, and the results themselves, into a folder that is made."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(index(results), encoding="utf-8")
    for trial in trials:
        (folder / page_name(trial.task.name, trial.number)).write_text(run_page(trial), encoding="utf-8")


def page_name(task: str, number: int) -> str:
    return f"{task}-{number}.html"


FOREMOST = ("cost", "seconds", "tool_calls", "wrong")
"""Measures that stand at the top."""


# The index


def index(results: Json) -> str:
    summary, measures = results["summary"], results["summary"]["measures"]
    rate = summary["pass_rate"]
    figures = [
        ("passed", f"{summary['passed']} of {summary['runs']}", ""),
        ("pass rate", _percent(rate["mean"]), f"± {_percent(rate['sd'])}" if rate["sd"] else ""),
        *(
            (f"pass^{k}", _percent(value), f"{k} of {k} runs pass")
            for k, value in [*summary["pass_hat"].items()][1:][-1:]
        ),
        *((LABELS[name], _value(name, measures[name]["mean"]), "a run") for name in FOREMOST if measures[name]),
    ]
    tags = ((tag, f"{each['passed']} of {each['runs']}") for tag, each in results["tags"].items())
    tasks = sorted(results["tasks"].items(), key=lambda each: (each[1]["pass_rate"], each[0]))
    listed = "".join(_task(name, each) for name, each in tasks)
    rows = "".join(_measure_row(name, measures[name]) for name in LABELS if measures[name])
    body = (
        f"<h1>Kabar, evaluated: {escape(str(results['model']))}</h1>",
        _soft(_how(results)),
        _figures(figures),
        _chips(tags),
        "<h2>Tasks, those that failed first</h2>",
        f'<ul class="tasks">{listed}</ul>',
        "<h2>All that was measured</h2>",
        f'<div class="wide"><table><tr><th></th><th>a run</th><th>sd</th><th>in all</th></tr>{rows}</table></div>',
    )
    return _page(f"Kabar eval: {results['model']}", body)


def _measure_row(name: str, measure: Json) -> str:
    total = _value(name, measure["total"]) if "total" in measure else ""
    return _row_of(LABELS[name], (_value(name, measure["mean"]), _value(name, measure["sd"]), total))


def _how(results: Json) -> str:
    judge = f", judged by {results['judge']}" if results.get("judge") else ""
    times = "once" if results["repeat"] == 1 else f"{results['repeat']} times"
    return f"{results['started']}, each task {times}, {results['jobs']} at once{judge}. {results['note']}".strip()


def _task(name: str, task: Json) -> str:
    runs = task["runs"]
    label = "run {}" if len(runs) > 1 else "as it went"
    links = " ".join(f'<a href="{escape(page_name(name, n))}">{label.format(n)}</a>' for n in range(1, len(runs) + 1))
    tags = " ".join(filter(None, (task["set"], *task["tags"])))
    head = f'<b>{escape(name)}</b> <span class="tag">{escape(tags)}</span> {links}'
    faults = dict.fromkeys(fault for run in runs for fault in run["faults"])
    unjudged = next((run["unjudged"] for run in runs if "unjudged" in run), "")
    mark = _mark(sum(run["passed"] for run in runs), len(runs))
    return (
        f'<li><div class="head">{mark} {head}</div><p>{escape(task["why"])}</p>{_faults(faults)}{_soft(unjudged)}</li>'
    )


def _mark(passed: int, runs: int) -> str:
    word = ("passed" if passed else "failed") if runs == 1 else f"{passed} of {runs}"
    return f'<span class="mark {"good" if passed == runs else "bad"}">{word}</span>'


def _faults(faults: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(fault)}</li>" for fault in faults)
    return f'<ul class="faults">{items}</ul>' if items else ""


def _soft(text: str) -> str:
    return f'<p class="soft">{escape(text)}</p>' if text else ""


# One run


def run_page(trial: Trial) -> str:
    task, script = trial.task, trial.task.script
    judged = f"The judge gave {trial.judged.score} of 5: {trial.judged.reason}" if trial.judged else trial.unjudged
    figures = ((LABELS[name], _value(name, value)) for name in LABELS if (value := getattr(trial.measures, name)))
    texts = {name: text for name, text in script.files.items() if isinstance(text, str)}
    tags = " ".join(filter(None, (task.set, *script.tags)))
    body = (
        '<p><a href="index.html">All tasks</a></p>',
        f"<h1>{_mark(int(trial.passed), 1)} {escape(task.name)}</h1>",
        f'<p>{escape(script.why)} <span class="tag">{escape(tags)}</span></p>',
        _faults(trial.faults),
        _soft(judged),
        _chips(figures),
        *(_conversation(key, numbered) for key, numbered in trial.entries.items()),
        _asked(trial.asked),
        _texts("Files of the task", texts),
        _texts("Files that the bot sent", trial.sent),
        _texts("The task", {f"{task.name}.yaml": task.text}),
    )
    return _page(f"{task.name}: {'passed' if trial.passed else 'failed'}", body)


def _asked(questions: Sequence[str]) -> str:
    bubbles = "".join(_bubble("ours", "Kabar itself", _markdown(each)) for each in questions)
    return f"<h2>What leave was asked for</h2>{bubbles}" if bubbles else ""


def _texts(title: str, texts: Mapping[str, str]) -> str:
    folded = "".join(_folded(name, f"<pre>{escape(text)}</pre>") for name, text in texts.items())
    return f"<h2>{title}</h2>{folded}" if texts else ""


def _folded(title: str, inside: str, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{inside}</details>"


def _conversation(key: str, numbered: Sequence[Numbered]) -> str:
    entries = [each.entry for each in numbered]
    results = {each["tool_use_id"]: each for entry in entries if isinstance(entry, Returned) for each in entry.results}
    title = key.partition(":")[2].replace("group-", "group: ")
    return f"<h2>{escape(title)}</h2>" + "".join(piece for entry in entries for piece in _entry(entry, results))


def _entry(entry: Entry, results: Mapping[str, Json]) -> Iterator[str]:
    match entry:
        case Asked(said=said, memory=memory):
            yield from map(_said, said)
            if memory:
                yield _folded("What the model was told of what is remembered", f"<pre>{escape(memory)}</pre>")
        case Returned(said=said, note=note):
            yield from map(_said, said)
            if note:
                yield _bubble("ours", "Kabar to the model", escape(note))
        case Answered(reply=reply):
            if text := reply_text(entry).strip():
                yield _bubble("", reply.model or "model", _markdown(text))
            calls = (block for block in reply.content if block.get("type") in CALLS)
            yield from (_call(call, results.get(call["id"])) for call in calls)
        case Ended(shown=shown, why=why):
            yield _bubble("ours", f"Kabar itself ({why})", _markdown(shown))
        case Summary(text=text):
            yield _folded("What came before is summed up from here on", f"<pre>{escape(text)}</pre>")


def _bubble(kind: str, who: str, inside: str) -> str:
    return f'<div class="said {kind}"><div class="who">{escape(who)}</div>{inside}</div>'


def _said(inbound: Inbound) -> str:
    when = datetime.fromtimestamp(inbound.sent_at, UTC)
    quote = f"{inbound.quote.author or 'somebody'}: {inbound.quote.text}" if inbound.quote else ""
    quoted = f"<blockquote>{escape(quote)}</blockquote>" if quote else ""
    files = "".join(f"<div>📎 {escape(each.name)}</div>" for each in inbound.attachments)
    inside = f'{quoted}{files}<div class="words">{escape(inbound.words)}</div>'
    return _bubble("person", f"{inbound.sender.name or inbound.sender.id}, {when:%a %Y-%m-%d %H:%M} UTC", inside)


def _call(call: Json, result: Json | None) -> str:
    failed = bool(result and result.get("is_error"))
    given = json.dumps(call.get("input"), ensure_ascii=False, indent=2)
    returned = f'<div class="who">returned</div><pre>{escape(words_of(result))}</pre>' if result else ""
    title = f"🔧 {call['name']}{': failed' if failed else ''}"
    return _folded(title, f"<pre>{escape(given)}</pre>{returned}", is_open=failed)


def _markdown(text: str) -> str:
    """Without HTML of its own and without pictures, which would come from elsewhere."""
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text))


# A comparison


def comparison(changes: Json) -> str:
    rate = changes["pass_rate"]
    figures = [
        ("pass rate", f"{_percent(rate['from'])} → {_percent(rate['to'])}", f"{changes['tasks']} tasks"),
        ("fell", str(len(changes["fell"])), ""),
        ("rose", str(len(changes["rose"])), ""),
        ("as before", str(changes["same"]), ""),
        ("chance", f"{changes['sign_test']:.2g}", "that as many move one way by themselves"),
    ]
    rows = "".join(_row(name, changes["measures"][name]) for name in LABELS if changes["measures"][name])
    only = {word: ", ".join(changes[f"only_{word}"]) for word in ("before", "after")}
    body = (
        f"<h1>{escape(changes['before']['model'])} → {escape(changes['after']['model'])}</h1>",
        _soft(f"Before: {changes['before']['started']}. After: {changes['after']['started']}."),
        _figures(figures),
        *(_moved(word, changes[word]) for word in ("fell", "rose") if changes[word]),
        "<h2>A run, on average</h2>",
        f'<div class="wide"><table><tr><th></th><th>before</th><th>after</th><th></th></tr>{rows}</table></div>',
        *(_soft(f"Only {word}: {names}") for word, names in only.items() if names),
    )
    return _page("Kabar eval: two compared", body)


def _moved(word: str, tasks: Json) -> str:
    listed = "".join(_change(name, each, "bad" if word == "fell" else "good") for name, each in tasks.items())
    return f'<h2>{word.capitalize()}</h2><ul class="tasks">{listed}</ul>'


def _change(name: str, change: Json, kind: str) -> str:
    mark = f'<span class="mark {kind}">{_percent(change["from"])} → {_percent(change["to"])}</span>'
    return f'<li><div class="head">{mark} <b>{escape(name)}</b></div>{_faults(change["faults"])}</li>'


def _row(name: str, change: Json) -> str:
    percent = "" if change["change_percent"] is None else f"{change['change_percent']:+.1f} %"
    return _row_of(LABELS[name], (_value(name, change["from"]), _value(name, change["to"]), percent))


# Pieces


def _page(title: str, body: Iterable[str]) -> str:
    inside = "\n".join(filter(None, body))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{STYLE}</style></head>\n'
        f"<body><main>\n{inside}\n</main></body></html>\n"
    )


def _figures(figures: Iterable[tuple[str, str, str]]) -> str:
    tiles = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)} <small>{escape(more)}</small></dd></div>"
        for name, value, more in figures
    )
    return f'<dl class="figures">{tiles}</dl>'


def _chips(figures: Iterable[tuple[str, str]]) -> str:
    chips = "".join(f"<li>{escape(name)} <b>{escape(value)}</b></li>" for name, value in figures)
    return f'<ul class="chips">{chips}</ul>' if chips else ""


def _row_of(name: str, cells: Iterable[str]) -> str:
    shown = "".join(f'<td class="n">{escape(cell)}</td>' for cell in cells)
    return f"<tr><th>{escape(name)}</th>{shown}</tr>"


def _value(name: str, value: float) -> str:
    match name:
        case "cached":
            return _percent(value)
        case "cost":
            return f"${value:.4f}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + "\u00a0%"
