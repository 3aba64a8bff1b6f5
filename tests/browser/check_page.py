"""The picture of a context in a real browser: drawn in full, silent, useful to mouse and keyboard, and deaf to what the
analysed repository says. `make check-html` runs it; pytest alone does not collect it, since it needs a Chromium."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browser.chromium import Browser, BrowserMissing, Page, open_browser
from tests.browser.hostile_page import SPRING, build_hostile_page_repository
from tests.command import FIXTURES, run

KEPT = os.environ.get("SCREENSHOTS")  # a folder for what was seen


class Opened(NamedTuple):
    name: str
    page: Page
    context: dict[str, Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        with open_browser() as opened:
            yield opened
    except BrowserMissing as fault:
        pytest.exit(str(fault), returncode=2)


@pytest.fixture(scope="module", params=["nine_files", "hostile", "wide"])
def opened(request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    name: str = request.param
    folder = tmp_path_factory.mktemp("page")
    root, target = FIXTURES / "nine_files", "app/views.py"
    options: list[str] = []
    if name == "hostile":
        root = folder / "repository"
        target = build_hostile_page_repository(root)
    elif name == "wide":
        root, options = folder / "repository", ["--budget", "0"]
        target = build_wide_repository(root, 1000)
    out = folder / "page.html"
    run("compile", root, target, "--format", "html", "--out", out, *options)
    context = json.loads(run("compile", root, target, "--format", "json", *options).stdout)
    page = browser.open(out)
    if KEPT:
        page.screenshot(Path(KEPT) / f"{name}.png")
    return Opened(name, page, context)


def build_wide_repository(folder: Path, size: int) -> str:
    """A target that uses `size` functions of ten files. Out: the target."""
    folder.mkdir()
    calls = []
    for number in range(10):
        names = [f"work_{i}" for i in range(number, size, 10)]
        text = "".join(
            f"def {n}(value):\n    total = value\n" + "    total += 1\n" * 9 + "    return total\n\n\n" for n in names
        )
        (folder / f"part_{number}.py").write_text(text)
        calls += [f"    part_{number}.{n}(1)\n" for n in names]
    imports = "".join(f"import part_{number}\n" for number in range(10))
    (folder / "target.py").write_text(f"{imports}\n\ndef main():\n{''.join(calls)}")
    return "target.py"


def test_nothing_goes_wrong_and_nothing_is_asked_for(opened: Opened) -> None:
    assert opened.page.run("document.documentElement.dataset.ready") == "yes"
    assert opened.page.faults() == []
    addresses = opened.page.requests()
    assert len(addresses) == 1 and addresses[0].startswith("file:")


def test_each_item_is_drawn_once(opened: Opened) -> None:
    drawn = opened.page.run("[...document.querySelectorAll('[data-item]')].map(e => Number(e.dataset.item))")
    assert sorted(drawn) == list(range(len(opened.context["items"])))
    if opened.name == "wide":
        assert len(drawn) > 1000
    sizes = opened.page.run("[...document.querySelectorAll('[data-item]')].map(e => e.getBoundingClientRect().height)")
    assert min(sizes) >= 20


def test_no_symbol_covers_another(opened: Opened) -> None:
    overlaps = opened.page.run(
        "(() => { const all = [...document.querySelectorAll('.block > button')].map(e => e.getBoundingClientRect());"
        " let n = 0; for (let i = 0; i < all.length; i++) for (let k = i + 1; k < all.length; k++) {"
        " const a = all[i], b = all[k]; if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1"
        " && b.top < a.bottom - 1) n++; } return n; })()"
    )
    assert overlaps == 0


def test_edges_are_drawn(opened: Opened) -> None:
    drawn = opened.page.run("document.querySelectorAll('#edges path').length")
    brought = [item for item in opened.context["items"] if item["via"] is not None]
    assert 0 < drawn <= len(brought)
    opened.page.click("#all")
    assert opened.page.run("document.querySelectorAll('#edges path').length") >= drawn
    opened.page.click("#all")


def test_a_click_shows_source_and_chain(opened: Opened) -> None:
    items = opened.context["items"]
    number = next(n for n, item in enumerate(items) if item["hop"] == 1 and item["kind"] == "function")
    opened.page.click(f"[data-item='{number}'] > button")
    said = opened.page.run("document.getElementById('panel').textContent")
    item = items[number]
    assert item["id"] in said and f"{item['path']}:{item['line']}-{item['end_line']}" in said
    assert item["via"]["rule"] in said and item["via"]["certainty"] in said
    code = opened.page.run("document.querySelector('#panel .listing code').textContent")
    assert code.lstrip().startswith(("def ", "async def ", "@"))
    chain = opened.page.run("[...document.querySelectorAll('#panel ol li')].map(e => e.textContent)")
    assert len(chain) == 2 and item["id"] in chain[1]
    if KEPT:
        opened.page.screenshot(Path(KEPT) / f"{opened.name}-chosen.png")


def test_source_of_what_lies_in_the_target_is_that_of_the_file(opened: Opened) -> None:
    items = opened.context["items"]
    number = next(n for n, item in enumerate(items) if item["hop"] == 0 and item["kind"] == "function")
    item = items[number]
    opened.page.click(f"[data-item='{number}'] > button")
    shown = opened.page.run("document.querySelector('#panel .listing code').textContent")
    assert shown.startswith("def ") and shown in opened.context["text"]
    assert shown.count("\n") == item["end_line"] - item["line"]


def test_keys_move_and_open(opened: Opened) -> None:
    focused = "document.activeElement.parentElement.dataset.item"
    opened.page.run("document.querySelector('[data-item=\"0\"] > button').click()")
    opened.page.run("document.querySelector('[data-item=\"0\"] > button').focus()")
    opened.page.press("ArrowDown")
    below = opened.page.run(focused)
    assert below not in (None, "0")
    opened.page.press("ArrowRight")
    beside = opened.page.run(focused)
    assert opened.context["items"][int(beside)]["hop"] == 1
    opened.page.press("Enter")
    title = opened.page.run("document.querySelector('#panel h2').textContent")
    assert title == opened.context["items"][int(beside)]["id"]
    opened.page.press("Escape")
    assert opened.page.run("document.querySelectorAll('.selected').length") == 0
    assert opened.page.run("document.querySelectorAll('.block > button[tabindex=\"0\"]').length") == 1


def test_nothing_of_the_repository_runs_or_becomes_markup(opened: Opened) -> None:
    numbers = range(len(opened.context["items"])) if opened.name == "hostile" else range(3)
    for number in numbers:
        opened.page.run(f"document.querySelector('[data-item=\"{number}\"] > button').click()")
    assert opened.page.run("window.sprung === undefined")
    assert opened.page.run("document.querySelectorAll('img, iframe, a, object, embed, form:not(#tools)').length") == 0
    assert opened.page.run("document.scripts.length") == 2
    handlers = (
        "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /^on/i.test(a.name))).length"
    )
    assert opened.page.run(handlers) == 0
    assert opened.page.faults() == []


def test_the_trap_springs_where_nothing_guards(browser: Browser, tmp_path: Path) -> None:
    """What the hostile repository holds does run in a page that takes it as it is."""
    careless = tmp_path / "careless.html"
    root = tmp_path / "repository"
    target = build_hostile_page_repository(root)
    careless.write_text(f"<title>x</title><script>const text = `{(root / target).read_text()}`;</script>")
    assert SPRING in careless.read_text()
    assert browser.open(careless).run("window.sprung") == 1


def test_it_follows_the_scheme_and_fits_a_narrow_window(opened: Opened) -> None:
    ink = "getComputedStyle(document.body).color"
    light = opened.page.run(ink)
    opened.page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert opened.page.run(ink) != light
    if KEPT:
        opened.page.screenshot(Path(KEPT) / f"{opened.name}-dark.png")
    opened.page.ask("Emulation.setEmulatedMedia", features=[])
    opened.page.ask("Emulation.setDeviceMetricsOverride", width=600, height=800, deviceScaleFactor=1, mobile=False)
    assert opened.page.run("document.documentElement.scrollWidth") <= 600
    assert opened.page.run("document.getElementById('panel').getBoundingClientRect().top") > 300
