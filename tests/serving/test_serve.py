"""`d2c serve` as users start it: JSON, its page in a browser, who may ask, the examples of its document."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from d2c.commands.cli import cli
from d2c.models.names import find
from d2c.parsing.options import ParseOptions
from d2c.serving.limits import ServeLimits
from d2c.serving.tasks import Service, Task
from tests.blocks import REPOSITORY, blocks, trimmed
from tests.pages import NASTY, searched
from tests.serving.servers import Server, served
from tests.test_startup import EXTRAS

TEXT = 'They saw the cat with glasses. "She slept," he said.\n\nTime flies.'
WANTED = '{"text": "They slept."} or {"sentences": [{"tokens": ["They", "slept"]}]}'
HOSTILE = [
    "",
    " \n\t ",
    "<script>alert(1)</script> & </b>.",
    "a\0b",
    "\ud800 half",
    "\u202eright to left\u202c \u200b\ufeff \u2028 x",
    "x" * 20_000,
    "(" * 400,
    "💥" * 50 + "\u0301" * 50,
    "-LRB- ROOT ||| :: #1 (S (NP",
    " ".join(NASTY),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served("--max-words", "600") as started:
        yield started


def lines_of_parse(tmp_path: Path, name: str, text: str, *options: str) -> list[Any]:
    """What `d2c parse` writes."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8", newline="")
    run = CliRunner().invoke(cli, ["parse", "en-small", str(file), *options, "--to", "json"])
    assert run.exit_code in (0, 3), run.output
    return [json.loads(line) for line in run.stdout.split("\n") if line]


def test_answers_are_lines_of_parse(server: Server, tmp_path: Path) -> None:
    status, said, headers = server.asked("/parse", {"text": TEXT})
    assert (status, headers["content-type"]) == (200, "application/json")
    assert said == {"sentences": lines_of_parse(tmp_path, "a.txt", TEXT, "--split")}
    assert [" ".join(one["tokens"][:2]) for one in said["sentences"]] == ["They saw", "`` She", "Time flies"]
    again = {"sentences": said["sentences"]}  # an answer may be sent back
    assert server.asked("/parse", again)[1]["sentences"][0]["spans"]
    given = [
        {"tokens": ["They", "saw", "the", "cat", "with", "glasses"], "require": [[2, 6, "NP"]]},
        {"tokens": ["Time", "flies"], "tags": ["NN", "VBZ"], "forbid": [[0, 2, "NP"]]},
        {"tokens": []},
        {"tokens": ["They", "slept"], "require": [[0, 3]]},
        {"tokens": ["They", "slept"], "require": [[0, 2, "\ud800"]]},
        3,
    ]
    status, said, _ = server.asked("/parse", {"sentences": given, "best": 3})
    lines = "".join(json.dumps(one) + "\n" for one in given)
    assert said == {"sentences": lines_of_parse(tmp_path, "a.jsonl", lines, "--best", "3")}
    assert [sorted({"error", "alternatives"} & one.keys()) for one in said["sentences"]] == (
        [["alternatives"]] * 2 + [["error"]] * 4
    )
    assert said["sentences"][4]["error"] == "'\\ud800' is half a character, which no file holds"
    assert {"label": "NP", "start": 2, "end": 6} in [
        {name: span[name] for name in ("label", "start", "end")} for span in said["sentences"][0]["spans"]
    ]


def test_requests_of_a_batch_are_answered_as_if_they_were_alone() -> None:
    bodies = [{"text": TEXT}, {"text": "Time flies.", "best": 2}, {"sentences": [{"tokens": ["Time"]}]}, 3]
    tasks = [Task(json.dumps(body).encode(), of_page) for body in bodies for of_page in (False, True)]
    work = Service(find("en-small"), ParseOptions(), ServeLimits()).worker()
    answers = work([*tasks, tasks[0]])
    assert answers == [*(work([task])[0] for task in tasks), answers[0]] and work([]) == []
    assert [answer.status for answer in answers] == [200] * 6 + [400] * 2 + [200]
    assert [one["i"] for one in json.loads(answers[1].body)["sentences"]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", f"the body is not JSON such as {WANTED}: Expecting value: line 1 column 1 (char 0)"),
        (b"They slept.", f"the body is not JSON such as {WANTED}: Expecting value"),
        (b"\xff", "the body is not UTF-8; it must be JSON, and not compressed"),
        (
            gzip.compress(b'{"text": "a"}', mtime=0),
            "the body is not UTF-8; it must be JSON, and not compressed",
        ),
        (b"[" * 100_000, "the body is nested too deeply"),
        (b"[]", f"the body is no JSON object such as {WANTED}"),
        ({}, f"one of `text` and `sentences` is needed: {WANTED}"),
        ({"text": 3}, "`text` is 3, not a string"),
        ({"text": "a", "sentences": []}, "one of `text` and `sentences` is needed"),
        ({"sentences": {}}, "`sentences` is {}, not a list"),
        ({"text": "a", "k": 1}, "unknown field 'k'; known are best, sentences, text"),
        (
            {"sentences": [{"tokens": ["a"]}, {"tokens": ["a"], "requires": [[0, 1]]}]},
            "sentence 2: unknown field 'requires'; known are tokens, tags, require, forbid",
        ),
        ({"text": "a", "best": 21}, "`best` is 21, not a number from 1 to 20"),
        ({"text": "a", "best": True}, "`best` is True, not a number from 1 to 20"),
    ],
)
def test_what_is_no_request(server: Server, body: Any, why: str) -> None:
    status, said, _ = server.asked("/parse", body)
    assert status == 400 and said["error"].startswith(why)


def test_hostile_text(server: Server) -> None:
    asked = [(path, {"text": text}) for text in HOSTILE for path in ("/parse", "/page")]
    with ThreadPoolExecutor(4) as pool:
        for status, _, headers in pool.map(lambda one: server.asked(*one), asked):
            assert (status, headers["content-type"]) == (200, "application/json")
            assert headers["x-content-type-options"] == "nosniff"
    words = {"text": "They slept . " * 300}
    for too_many in (words, {"sentences": [3] * 601}):
        said = server.asked("/parse", too_many)
        assert said[:2] == (413, {"error": "more than 600 words; send it in parts"})


def test_who_may_ask(server: Server) -> None:
    here, body = f"localhost:{server.port}", {"text": "They slept."}

    def status(host: str, origin: str | None = None) -> int:
        headers = {"Host": host} | ({"Origin": origin} if origin else {})
        return server.asked("/parse", body, headers)[0]

    assert [status(host) for host in (here, "LOCALHOST", "127.0.0.1", "[::1]:80", "10.0.0.7")] == [200] * 5
    assert [status(host) for host in ("evil.test", here + ".evil.test", "", "[x", "localhost@evil.test")] == [
        421
    ] * 5
    assert status(here, f"http://{here}") == 200
    assert [status(here, one) for one in ("http://evil.test", "null", "http://localhost:1")] == [403] * 3
    assert server.asked("/", headers={"Host": "evil.test"})[0] == 421
    assert server.asked("/parse", body, method="OPTIONS")[0] == 405
    there = "; there are POST /parse, GET /, GET /info and GET /health"
    assert server.asked("/parse")[:2] == (405, {"error": f"Method Not Allowed{there}"})
    assert server.asked("/", body)[:2] == (405, {"error": f"Method Not Allowed{there}"})
    assert server.asked("/nothing")[:2] == (404, {"error": f"Not Found{there}"})
    assert "access-control-allow-origin" not in server.asked("/parse", body)[2]


def test_info_and_health(server: Server) -> None:
    status, said, _ = server.asked("/info")
    assert status == 200 and said["name"] == said["card"]["name"] == "en-small"
    assert (said["max_words"], said["max_bytes"], said["most_trees"]) == (600, 1_000_000, 20)
    assert server.asked("/health")[:2] == (200, {"waiting": 0, "ready": 1})


def test_the_page_is_the_one_of_view_and_runs_no_other_script(server: Server) -> None:
    status, page, headers = server.asked("/")
    assert status == 200 and headers["content-type"].startswith("text/html")
    policy = headers["content-security-policy"]
    assert re.search("script-src 'sha256-[^' ]+'$", policy) and "default-src 'none'" in policy
    assert not re.findall(r"(?:src|href)=|https?://(?!www\.w3\.org)", page)
    assert "function browse(page)" in page and page.count("<script>") == 1


def test_a_sentence_by_hand(browser: Any, server: Server) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab, faults, asked = context.new_page(), list[str](), list[str]()
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"http://127.0.0.1:{server.port}/")
    assert not tab.locator("#browser").is_visible() and not tab.locator("#filters").is_visible()

    tab.fill("#text", "They saw the cat with glasses. <img src=x onerror=alert(1)> slept.")
    tab.press("#text", "Enter")
    words, wanted = tab.locator("#sentence button"), tab.locator("#wanted .told")
    words.first.wait_for()
    assert tab.inner_text("#count") == "2 of 2 sentences"
    assert tab.locator("figcaption").all_inner_texts() == ["c-tree", "d-tree"]
    assert words.all_inner_texts() == ["They", "saw", "the", "cat", "with", "glasses", "."]

    def brackets() -> str:
        tab.get_by_text("copy brackets").first.click()
        tab.locator("#said", has_text="copied").wait_for()
        return str(tab.evaluate("navigator.clipboard.readText()"))

    low = "(VP (VBD saw) (NP (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses)))))"
    high = "(VP (VBD saw) (NP (DT the) (NN cat)) (PP (IN with) (NP (NNS glasses))))"
    assert brackets() == f"(S (NP (PRP They)) {high} (. .))"

    tab.locator("svg.tree .word", has_text="glasses").click()  # the last word first, in a picture
    words.nth(2).click()
    assert tab.locator("#sentence [aria-pressed=true]").all_inner_texts() == ["the", "cat", "with", "glasses"]
    tab.fill("#label", "NP")
    tab.press("#label", "Enter")
    wanted.wait_for()
    assert wanted.inner_text() == "NP: the cat with glasses ×"
    assert brackets() == f"(S (NP (PRP They)) {low} (. .))"
    words.nth(1).click()
    words.nth(3).click()
    tab.get_by_role("button", name="require", exact=True).click()
    tab.locator("#state.wrong", has_text="required, but they cross").wait_for()
    assert wanted.count() == 1
    wanted.get_by_role("button").click()
    wanted.wait_for(state="detached")
    assert brackets() == f"(S (NP (PRP They)) {high} (. .))"
    words.nth(4).click()
    words.nth(5).click()
    tab.get_by_role("button", name="forbid").click()
    wanted.wait_for()
    assert wanted.inner_text() == "no constituent: with glasses ×" and "PP" not in brackets()

    tab.fill("#best", "3")
    tab.click("#ask button")
    tab.locator("svg.tree").nth(2).wait_for()
    captions = tab.locator("figcaption").all_inner_texts()
    assert [re.sub(r"0\.\d\d", "0.dd", one) for one in captions] == [
        "c-tree, p = 0.dd",
        "c-tree 2, p = 0.dd",
        "c-tree 3, p = 0.dd",
        "d-tree",
    ]
    assert searched(tab, "VP < PP") == "1 of 2 sentences" and tab.locator("#sentence .hit").count() == 5
    assert searched(tab, "/^([a-r]|[st])+$/") == "2 of 2 sentences"
    for number in range(2):
        tab.locator("#list button").nth(number).click()
        words.nth(0).click()
        words.nth(1).click()
        tab.fill("#label", "CONJP")
        tab.press("#label", "Enter")
        wanted.filter(has_text="CONJP").wait_for()
    assert searched(tab, "CONJP") == "2 of 2 sentences"
    tab.locator("#list button").nth(1).click()
    wanted.get_by_role("button").click()
    tab.locator("#count", has_text="1 of 2 sentences").wait_for()  # and the other one is shown
    assert words.first.inner_text() == "They" and tab.locator("svg.tree").count() > 0
    searched(tab, '"slept"')
    tab.get_by_text("copy SVG").first.click()
    assert "<img" not in tab.inner_html("#pictures") and tab.locator("img").count() == 0
    assert str(tab.evaluate("navigator.clipboard.readText()")).startswith("<svg")
    assert faults == [] and {url.rsplit("/", 1)[1] for url in asked if url[:5] != "blob:"} == {"", "page"}
    context.close()


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_examples_of_the_document(server: Server) -> None:
    [start, curl, python] = blocks(REPOSITORY / "docs" / "serve.md")[:3]
    assert "d2c serve" in start.code
    for block, command in (curl, ["bash", "-c"]), (python, [sys.executable, "-c"]):
        code = block.code.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
        printed = subprocess.run([*command, code], capture_output=True, text=True, check=True).stdout
        assert block.printed is not None and trimmed(printed) == trimmed(block.printed)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "0.0.0.0"])
def test_an_address_that_others_reach_is_warned_of(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d2c.serving.workers.Workers", MagicMock())
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    run = CliRunner().invoke(cli, ["serve", "en-small", "--host", host, "--port", "0"])
    *warnings, last = run.stderr.splitlines()
    assert run.exit_code == 0 and re.fullmatch(
        r"d2c: en-small at http://(127\.0\.0\.1|\[::1\]|0\.0\.0\.0):\d+/ \(1 process\); Ctrl-C ends it", last
    )
    warning = "d2c: 0.0.0.0 can be reached from other machines, and there are no passwords"
    assert warnings == ([warning] if host == "0.0.0.0" else [])


def test_the_port_is_closed_while_the_model_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    tried = list[int]()

    def workers(*_: Any) -> MagicMock:
        with socket.socket() as client:
            tried.append(client.connect_ex(("127.0.0.1", port)))
        return MagicMock()

    monkeypatch.setattr("d2c.serving.workers.Workers", workers)
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    assert CliRunner().invoke(cli, ["serve", "en-small", "--port", str(port)]).exit_code == 0
    assert tried == [errno.ECONNREFUSED]


def test_refusals() -> None:
    def said(*options: str, without: str = "") -> str:
        command = [sys.executable, "-c", EXTRAS, without, "serve", "en-small", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2
        return done.stderr

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert said("--port", str(port)) == f"d2c: 127.0.0.1:{port}: Address already in use\n"
    assert re.fullmatch(
        r"d2c: serve needs a package \(.*\): .*pip install -e '\.\[serve\]'\n", said(without="uvicorn")
    )
    run = CliRunner().invoke(cli, ["serve", "en-small", "--host", "no.such.host.invalid"])
    assert isinstance(run.exception, OSError) and run.exception.filename == "no.such.host.invalid:8000"


def test_a_worker_that_is_killed(server: Server) -> None:
    body = {"text": "They slept. " * 100}
    with ThreadPoolExecutor(4) as pool:
        said = [pool.submit(server.asked, "/parse", body) for _ in range(4)]
        [worker] = server.workers()
        os.kill(worker, signal.SIGKILL)
        answers = [one.result() for one in said]
    assert [one[0] for one in answers] == [200] * 4 and len({json.dumps(one[1]) for one in answers}) == 1


def test_the_end_of_it(server: Server) -> None:
    assert server.process and server.process.stderr
    [worker] = server.workers()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(20) == 130
    replaced, ready, end = server.process.stderr.read().splitlines()  # of the one that was killed, above
    assert replaced == "d2c: process 1 is replaced: its worker died: it was killed, or memory was short"
    assert (ready, end) == ("d2c: process 1 is ready again", "d2c: interrupted")
    assert not Path(f"/proc/{worker}").exists()
