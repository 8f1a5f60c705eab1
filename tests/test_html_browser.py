"""The page in a real browser: it draws, sorts, searches and switches; nothing leaves it, and nothing in it runs."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sassmix
from sassmix.errors import number_of
from sassmix.render.check import render_check
from tests.conftest import FIXTURES
from tests.test_html import HOSTILE, hostile, squeezed

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SASS = FIXTURES / "listings" / "wgmma.sm_90a.sass"
NCU = [FIXTURES / "counts" / "ncu" / name for name in ("vecadd.source.csv", "vecadd.cubin")]
DRAWN = "return [...arguments[0].getContext('2d').getImageData(0, 0, arguments[0].width, 1).data].some(Boolean)"
Open = Callable[[str], Any]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window; the tests are skipped where there is none."""
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("no browser: install chromium and chromium-driver to test the page in one")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    profile = tmp_path_factory.mktemp("browser")
    sandbox = [] if os.getuid() else ["--no-sandbox"]  # root has none
    for argument in ("--headless=new", "--disable-dev-shm-usage", f"--user-data-dir={profile}", *sandbox):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    yield started
    started.quit()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a page from the disk; at the end, nothing but the page was loaded, and the console is empty."""
    path = tmp_path / "report.html"

    def open_page(source: str) -> Any:
        path.write_text(source, encoding="utf-8")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics(1280))
        browser.get(path.as_uri())
        return browser

    browser.get_log("performance")
    browser.get_log("browser")
    yield open_page
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
    own = [request["request"]["url"] for request in sent if request["documentURL"].startswith(path.as_uri())]
    assert {url.partition("#")[0] for url in own} == {path.as_uri()}  # the browser's first tab loads its own things
    assert browser.get_log("browser") == []


def metrics(width: int) -> dict[str, object]:
    return {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}


@pytest.fixture(scope="module")
def static() -> str:
    return sassmix.mix([SASS], code=True).to_html()


@pytest.fixture(scope="module")
def dynamic() -> str:
    """Kernels with some hundred to some ten thousand instructions."""
    return sassmix.mix([FIXTURES / "counts" / "h200" / name for name in ("micro.source.csv", "micro.sass")]).to_html()


def find(page: Any, selector: str) -> Any:
    return page.find_element("css selector", selector)


def every(page: Any, selector: str) -> list[Any]:
    return list(page.find_elements("css selector", selector))


def column(page: Any, number: int) -> list[str]:
    """The cells that are to be seen of a column of the overview, its first being 1."""
    cells = every(page, f".overview tbody tr > :nth-child({number})")
    return [cell.text for cell in cells if cell.is_displayed()]


def test_every_chart_is_drawn_when_its_kernel_is_unfolded(opened: Open, static: str) -> None:
    page = opened(static)
    kernels = every(page, "details.kernel")
    assert len(kernels) == 14 and len(every(page, "details[open]")) == 3
    find(kernels[5], "summary").send_keys(Keys.ENTER)
    canvas = find(kernels[5], "canvas")
    wait(lambda: page.execute_script(DRAWN, canvas))
    assert canvas.accessible_name.startswith("Stacked bar of the mix: memory.global ") or "%" in canvas.accessible_name
    assert not page.execute_script(DRAWN, find(kernels[6], "canvas"))


def wait(condition: Callable[[], object]) -> None:
    """Wait up to five seconds for what the browser does in its own time."""
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end, "the page did not do it"
        time.sleep(0.02)


def test_a_link_of_the_overview_unfolds_its_kernel(opened: Open, static: str) -> None:
    page = opened(static)
    every(page, ".overview a")[9].click()
    wait(lambda: every(page, "details.kernel")[9].get_attribute("open"))


@pytest.mark.parametrize("key", [None, Keys.ENTER, Keys.SPACE])
def test_tables_are_sorted_by_number_both_ways(opened: Open, dynamic: str, key: str | None) -> None:
    page = opened(dynamic)
    head = next(th for th in every(page, ".overview thead th") if th.text.strip() == "instructions")
    before = [int(text.replace(",", "")) for text in column(page, 5)]
    assert before != sorted(before)
    for order in ("descending", "ascending"):
        button = find(head, "button")
        button.send_keys(key) if key else button.click()
        assert head.get_attribute("aria-sort") == order
        numbers = [int(text.replace(",", "")) for text in column(page, 5)]
        assert numbers == sorted(before, reverse=order == "descending")


def test_words_are_sorted_and_confidence_by_its_degree(opened: Open) -> None:
    report = sassmix.mix(sorted(FIXTURES.glob("counts/cutracer/*_hist.csv")))
    levels = [kernel.confidence for kernel in report.kernels]
    page = opened(report.to_html())
    for name, number, wanted in (
        ("confidence", 10, sorted(levels, key=["low", "medium", "high"].index)),
        ("kernel", 1, sorted(column(page, 1), key=str.lower)),
    ):
        next(th for th in every(page, ".overview th") if th.text.strip() == name).find_element(
            "tag name", "button"
        ).click()
        assert column(page, number) == wanted


@pytest.mark.parametrize(("table", "wanted"), [(".overview", "hgmma_S"), (".opcodes", "ldc"), (".listing", "HGMMA.64")])
def test_a_search_leaves_the_rows_that_have_it(opened: Open, static: str, table: str, wanted: str) -> None:
    page = opened(static)
    rows = every(find(page, table), "tbody tr")
    texts = [row.get_attribute("textContent") for row in rows]
    box = find(page, f":has(> {table})").find_element("xpath", "preceding-sibling::p[1]/input")
    assert box.accessible_name.startswith("Search the ")
    box.send_keys(wanted)
    seen = [row.get_attribute("textContent") for row in rows if row.is_displayed()]
    assert seen == [text for text in texts if wanted.lower() in text.lower()] and 0 < len(seen) < len(rows)
    assert box.find_element("xpath", "../output").text == number_of(len(seen), "row")
    box.send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.DELETE)
    assert all(row.is_displayed() or not row.text for row in rows[:5])


def test_the_mix_is_switched_by_keyboard(opened: Open, static: str) -> None:
    page = opened(static)
    kernel = find(page, "details.kernel")
    before = find(kernel, "canvas").accessible_name
    find(page, "#by-category").send_keys(Keys.TAB, Keys.SHIFT, Keys.TAB, Keys.NULL)
    for by in ("category", "intent", "pipe", "group"):
        assert [table.get_attribute("data-by") for table in every(kernel, ".mix") if table.is_displayed()] == [by]
        page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT if by != "group" else Keys.NULL)
    assert find(kernel, "canvas").accessible_name != before


def luminance(page: Any) -> float:
    colour = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(float(part) for part in colour.strip("rgb()").split(",")) / 3


def test_light_and_dark_follow_the_system_and_the_switch(opened: Open, static: str) -> None:
    page = opened(static)
    for system in ("light", "dark"):
        feature = {"features": [{"name": "prefers-color-scheme", "value": system}]}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        assert (luminance(page) > 128) == (system == "light")
        for choice in ("light", "dark"):
            find(page, f"label:has(#theme-{choice})").click()
            assert (luminance(page) > 128) == (choice == "light")
        find(page, "label:has(#theme-auto)").click()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_an_input_runs(opened: Open, text: str) -> None:
    page = opened(hostile(text).to_html())
    for input_ in every(page, "input[type=search]"):
        input_.send_keys("a")
    page.execute_script("document.querySelectorAll('th button').forEach((button) => button.click())")
    assert page.execute_script("return [typeof window.hacked, document.images.length, document.scripts.length]") == [
        *("undefined", 0, 2)
    ]
    shown = page.execute_script("return document.body.textContent")
    assert squeezed(text) in " ".join(shown.split())
    assert page.title == "sassmix: 1 kernel"


@pytest.mark.parametrize("width", [1280, 480])
def test_the_page_itself_never_scrolls_sideways(opened: Open, static: str, width: int) -> None:
    page = opened(static)
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics(width))
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_everything_to_operate_and_to_see_has_a_name(opened: Open, static: str) -> None:
    page = opened(static)
    for element in every(page, "input, button, details[open] canvas, [role=region]"):
        named = element.accessible_name.strip() or not element.is_displayed()
        assert named, element.get_attribute("outerHTML")
    assert len(every(page, "[role=region][tabindex='0']")) == len(every(page, ".scroll"))


def test_the_page_is_complete_without_scripts(opened: Open, static: str) -> None:
    page = opened(static)
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.refresh()
        find(page, "label:has(#by-pipe)").click()
        kernel = find(page, "details.kernel")
        assert [t.get_attribute("data-by") for t in every(kernel, ".mix") if t.is_displayed()] == ["pipe"]
        find(page, "label:has(#theme-dark)").click()
        assert luminance(page) < 128
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_what_is_printed_is_not_cut_off(opened: Open) -> None:
    page = opened(sassmix.mix(NCU, code=True).to_html())
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    heights = "return [...document.querySelectorAll('.scroll')].every(e => e.scrollHeight <= e.clientHeight + 2)"
    assert page.execute_script(heights)
    assert not find(page, "header").is_displayed() and luminance(page) > 128
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_page_of_check_sorts_too(opened: Open) -> None:
    page = opened(render_check(sassmix_check(), "html"))
    find(page, "th:nth-child(3) button").click()
    answers = [cell.text for cell in every(find(page, "table"), "td:nth-child(3)")]
    assert len(answers) == 6 and answers == sorted(answers, key=str.lower)


def sassmix_check() -> dict[str, Any]:
    from sassmix.check import check

    return check(sassmix.mix([SASS]))
