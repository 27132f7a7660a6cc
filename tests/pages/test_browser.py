"""A page in a real browser: layout, values, keys, sorting, saving, themes, paper, and no request to anywhere.

All of it is one test with one browser, because starting one takes seconds.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from page_tools import CASES, CONSTANT, THREE, examined, leaks_of_constant, leaks_of_three

from paramverify.pages.page import page

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
)
Found = dict[str, tuple[Fraction, Fraction]]


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """A browser of this system, which says what it asks of the network."""
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(programs):
        pytest.skip(
            "chromium and chromedriver are missing; to get them: apt install chromium chromium-driver"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=programs[1])
    started = webdriver.Chrome(options=options, service=service)
    yield started
    started.quit()


class Shown:
    """The section of one case on an open page."""

    def __init__(self, driver: Any, number: int) -> None:
        self.driver = driver
        self.section = driver.find_element(By.ID, f"map-{number}")

    def field(self, kind: str, name: str) -> Any:
        """Returns the slider or the exact number of a parameter."""
        return self.section.find_element(By.CSS_SELECTOR, f"[data-{kind}='{name}']")

    def write(self, **values: str) -> None:
        """Writes exact numbers of parameters."""
        for name, value in values.items():
            field = self.field("exact", name)
            field.clear()
            field.send_keys(value, Keys.ENTER)

    def point(self) -> dict[str, Fraction]:
        """Returns the point that is pinned."""
        fields = self.section.find_elements(By.CSS_SELECTOR, "[data-exact]")
        return {f.get_attribute("data-exact"): Fraction(f.get_attribute("value")) for f in fields}

    @property
    def text(self) -> str:
        """What is told of the point."""
        return str(self.section.find_element(By.CSS_SELECTOR, ".readout").text)

    def numbers(self) -> dict[str, list[str]]:
        """Returns the exact numbers of the table, by output: both probabilities, and the ratio."""
        script = """return [...arguments[0].querySelectorAll('.readout tbody tr')].map((row) =>
            [row.cells[0], ...row.querySelectorAll('[data-value]')]
            .map((e) => e.dataset.value || e.textContent))"""
        return {row[0]: row[1:] for row in self.driver.execute_script(script, self.section)}


@pytest.mark.slow
def test_pages_in_a_browser(driver: Any, tmp_path: Path) -> None:
    """A page about four cases does what it says, at every width, in light, in dark and on paper."""
    (tmp_path / "three.toml").write_text(THREE)
    (tmp_path / "constant.toml").write_text(CONSTANT)
    line, walk = (CASES / name for name in ("design-geometric-contagious.toml", "random-walk.toml"))
    works = [examined(path) for path in (tmp_path / "three.toml", line, tmp_path / "constant.toml", walk)]
    target = tmp_path / "page.html"
    target.write_text(page(works), encoding="utf-8")
    driver.get(target.as_uri())
    check_decimals(driver)
    check_values(Shown(driver, 1))
    check_cells(Shown(driver, 1))
    check_mouse_and_keys(driver, Shown(driver, 1))
    check_line(Shown(driver, 2))
    check_constant(Shown(driver, 3))
    check_inequality(Shown(driver, 4))
    check_sorting(driver)
    check_saving(driver, tmp_path)
    check_layout(driver)
    check_themes(driver)
    check_paper(driver)
    check_requests(driver, target.as_uri())


def check_decimals(driver: Any) -> None:
    """Numbers are rounded to six digits as by `decimal`, half to even, and are read as they are written."""
    numbers = [
        Fraction(a, b) for a in (1, 2, 7, 999999, 9999995, 10**30, 123456) for b in (1, 3, 8, 10**7, 10**21)
    ]
    numbers += [Fraction("0.0001"), Fraction("0.00001234565"), Fraction("-2.5"), Fraction("1000005/10000000")]
    texts = [str(number) for number in numbers]
    script = "return arguments[0].map((t) => [Exact.decimal(Exact.parse(t)), Exact.text(Exact.parse(t))])"
    six = Context(prec=6, rounding=ROUND_HALF_EVEN)
    for number, (rounded, text) in zip(numbers, driver.execute_script(script, texts), strict=True):
        assert text == str(number)
        assert Fraction(rounded) == Fraction(
            six.divide(Decimal(number.numerator), Decimal(number.denominator))
        )
        assert rounded == f"{float(rounded):.6g}"
    script = "return arguments[0].map((t) => { const v = Exact.parse(t); return v && Exact.text(v); })"
    written = {
        "0.25": "1/4",
        " -3/6 ": "-1/2",
        "+.5": "1/2",
        "7.": "7",
        "1/0": None,
        "1e3": None,
        "": None,
        ".": None,
    }
    assert driver.execute_script(script, list(written)) == list(written.values())


def check_values(shown: Shown) -> None:
    """The values at a point are those of enumeration, in lowest terms, and the verdict is right."""
    for p, c, alpha in (
        ("1/3", "2/7", "1/2"),
        ("0.25", "1", "3/4"),
        ("99/100", "0", "1/3"),
        ("1/2", "1/2", "0.6"),
    ):
        shown.write(p=p, c=c, alpha=alpha)
        wanted = leaks_of_three(Fraction(p), Fraction(c), Fraction(alpha))
        ratios = {name: max(a / b, b / a) for name, (a, b) in wanted.items()}
        assert shown.numbers() == {
            name: [str(a), str(b), str(ratios[name])] for name, (a, b) in wanted.items()
        }
        word = "not private" if max(ratios.values()) > 3 else "private"
        assert shown.text.startswith(f"{word}\n" if "\n" in shown.text.split(" At ")[0] else f"{word} At")
    shown.write(p="0")
    assert "outside the domain: p = 0 is outside (0, 1)" in shown.text
    shown.write(p="1/0")
    assert shown.field("exact", "p").get_attribute("aria-invalid") == "true"
    shown.write(p="1/2")
    assert shown.field("exact", "p").get_attribute("aria-invalid") == "false"


def check_cells(shown: Shown) -> None:
    """The cell that is told contains the point, and a decided one agrees with the values; slices differ."""
    slices = set()
    points = [("1/8", "1/9", "3/10"), ("1/2", "9/10", "7/10"), ("2/3", "1/3", "9/20")]
    points += [(f"{k}/29", "1/2", f"{k + 14}/54") for k in range(1, 14)]
    for p, c, alpha in points:
        shown.write(p=p, c=c, alpha=alpha)
        point = {"p": Fraction(p), "c": Fraction(c), "alpha": Fraction(alpha)}
        sides = re.findall(r"(\w+) in \[([^,]+), ([^\]]+)\]", shown.text)
        assert {name for name, _, _ in sides} == set(point)
        assert all(Fraction(low) <= point[name] <= Fraction(high) for name, low, high in sides)
        largest = max(max(a / b, b / a) for a, b in leaks_of_three(*point.values()).values())
        decided = re.search(r"decided as a whole: (not private|private)", shown.text)
        assert not decided or decided[1] == ("not private" if largest > 3 else "private")
        path = shown.section.find_element(By.CSS_SELECTOR, "path.region.safe").get_attribute("d")
        slices.add(path)
    assert len(slices) > 3


def check_mouse_and_keys(driver: Any, shown: Shown) -> None:
    """A mouse shows another point for a while, a click pins it, and keys move it: sliders and the picture."""
    shown.write(p="1/2", c="1/2", alpha="1/2")
    picture = shown.section.find_element(By.CSS_SELECTOR, ".picture")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
    before = shown.text
    ActionChains(driver).move_to_element_with_offset(picture, 60, -40).perform()
    wait(lambda: shown.text != before)
    assert shown.point()["p"] == Fraction(1, 2)  # it is not pinned
    at = dict(re.findall(r"(\w+) = ([\d/]+)", shown.text.split(" the largest")[0]))
    moved = {name: Fraction(value) for name, value in at.items()}
    assert shown.numbers() == told(leaks_of_three(moved["p"], moved["c"], moved["alpha"]))
    heading = driver.find_element(By.TAG_NAME, "h2")
    ActionChains(driver).move_to_element(heading).perform()
    wait(lambda: shown.text == before)
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
    ActionChains(driver).move_to_element_with_offset(picture, 60, -40).click().perform()
    assert shown.point() == moved
    driver.execute_script("arguments[0].focus()", picture)
    free = driver.execute_script(
        "return JSON.parse(document.getElementById('data-map-1').textContent).map.axes"
    )
    start = shown.point()
    picture_keys(driver, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    width = {"p": Fraction(1), "c": Fraction(1), "alpha": Fraction(1, 2)}
    assert shown.point()[free[0]] == start[free[0]] + 2 * width[free[0]] / 100
    slider = shown.field("slider", "alpha")
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    assert shown.point()["alpha"] == Fraction(1, 4) + Fraction(1, 200)
    assert slider.get_attribute("aria-valuetext") == "51/200"
    values = shown.point()
    assert shown.numbers() == told(leaks_of_three(values["p"], values["c"], values["alpha"]))
    outline = driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def picture_keys(driver: Any, *keys: str) -> None:
    """Presses keys where the focus is."""
    actions = ActionChains(driver)
    for key in keys:
        actions.send_keys(key)
    actions.perform()


def told(found: Found) -> dict[str, list[str]]:
    """Returns numbers as the page shows them."""
    return {name: [str(a), str(b), str(max(a / b, b / a))] for name, (a, b) in found.items()}


def wait(condition: Callable[[], bool]) -> None:
    """Waits for what the browser draws next."""
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def check_line(shown: Shown) -> None:
    """The parts of a line end where they do: at √2/2, to thirty digits."""
    for alpha, word in (
        ("7071067811865475/10000000000000000", "not private"),
        ("70710678118655/100000000000000", "private"),
    ):
        shown.write(alpha=alpha)
        assert (Fraction(alpha) ** 2 > Fraction(1, 2)) == (word == "private")
        assert f"This part of the line: {word} for alpha in" in shown.text


def check_constant(shown: Shown) -> None:
    """Exact numbers with E are right for every number in its place, and so is the verdict with exp(1/2)."""
    for p, q in (("1/5", "1/3"), ("1/2", "1/4")):
        shown.write(p="0", q="0")
        shown.write(p=p, q=q)
        for e in (Fraction(3, 2), Fraction(5, 3)):
            wanted = leaks_of_constant(Fraction(p), Fraction(q), e)
            for output, (left, right, _) in shown.numbers().items():
                assert (in_e(left, e), in_e(right, e)) == wanted[output]
    assert "E = exp(1/2)" in shown.text
    shown.write(q="3/4")
    assert "p + q <= 1 is false" in shown.text
    shown.write(p="0", q="0")
    assert "One of the secrets low and high has probability 0 here" in shown.text


def in_e(text: str, e: Fraction) -> Fraction:
    """Returns the value of a number of the page: quotients of sums of products of whole numbers and E."""
    assert re.fullmatch(r"[0-9E^*+/() -]+", text)
    whole = re.sub(r"\d+", lambda match: f"F({match[0]})", text.replace("^", "**"))
    whole = re.sub(r"\*\*F\((\d+)\)", r"**\1", whole)
    return Fraction(eval(whole, {"__builtins__": {}, "F": Fraction, "E": e}))


def check_inequality(shown: Shown) -> None:
    """The sides of the comparisons of a claim are those of the functions."""
    shown.write(q="1/4")
    shown.write(p="2/3")
    p, q = Fraction(2, 3), Fraction(1, 4)
    up = p**24 / (p**24 + q**24)
    script = "return [...arguments[0].querySelectorAll('.readout [data-value]')].map((n) => n.dataset.value)"
    values = [Fraction(text) for text in shown.driver.execute_script(script, shown.section)]
    assert values == [up, Fraction(1, 2), Fraction(0), 1 - up, 1 - up, up]
    assert shown.text.startswith("true")


def check_sorting(driver: Any) -> None:
    """A column is sorted by its exact keys, one way and then the other, by the keyboard too."""
    table = driver.find_element(By.CSS_SELECTOR, "nav table")
    heads = table.find_elements(By.CSS_SELECTOR, "th button")
    assert [head.text for head in heads][:3] == ["case", "budget", "verdict"]
    script = "return [...arguments[0].querySelectorAll('tbody tr')].map((row) => row.cells[0].textContent)"
    start = driver.execute_script(script, table)
    heads[0].send_keys(Keys.ENTER)
    assert driver.execute_script(script, table) == sorted(start)
    assert table.find_element(By.CSS_SELECTOR, "th").get_attribute("aria-sort") == "ascending"
    heads[0].click()
    assert driver.execute_script(script, table) == sorted(start, reverse=True)
    column = next(k for k, head in enumerate(heads) if head.text == "seconds")
    heads[column].click()
    keys = driver.execute_script(
        "return [...arguments[0].querySelectorAll('tbody tr')].map((r) => r.cells[arguments[1]].dataset.key)",
        table,
        column,
    )
    assert [Fraction(key) for key in keys] == sorted(map(Fraction, keys))


def check_saving(driver: Any, folder: Path) -> None:
    """The button of the evidence saves the file whose digest the page tells."""
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder / "saved")}
    )
    button = driver.find_element(By.CSS_SELECTOR, "[data-save='evidence-1']")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    saved = folder / "saved" / "three.evidence.json"
    wait(saved.exists)
    digest = driver.find_element(By.CSS_SELECTOR, "#report-1 .digest").text
    assert hashlib.sha256(saved.read_bytes()).hexdigest() == digest


def check_layout(driver: Any) -> None:
    """Nothing sticks out at 400 and at 1,400 pixels, but for what scrolls by itself; all is unfolded."""
    driver.execute_script("document.querySelectorAll('details').forEach((d) => d.open = true)")
    for width in (400, 1400):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        assert sticking_out(driver, ".scroll, .listing, svg") == []
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def sticking_out(driver: Any, scrolling: str) -> list[str]:
    """Returns the elements that go beyond the right side of the window, but for those within some others."""
    script = """return [...document.querySelectorAll('body *')]
        .filter((e) => !e.closest(arguments[0]) && e.getBoundingClientRect().right > innerWidth + 1)
        .map((e) => e.outerHTML.slice(0, 80))"""
    found: list[str] = driver.execute_script(script, scrolling)
    return found


def emulate(driver: Any, media: str = "", **features: str) -> None:
    """Lets the browser prefer something, or draw as on paper."""
    listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": listed})


def check_themes(driver: Any) -> None:
    """The page is dark where that is preferred, and does not move where that is not wanted."""
    colours = {}
    for theme in ("light", "dark"):
        emulate(driver, prefers_color_scheme=theme)
        script = "const s = getComputedStyle(document.documentElement); return [s.backgroundColor, s.color]"
        colours[theme] = driver.execute_script(script)
    assert colours == {
        "light": ["rgb(255, 255, 255)", "rgb(29, 29, 27)"],
        "dark": ["rgb(22, 24, 27)", "rgb(233, 231, 226)"],
    }
    script = "return getComputedStyle(document.querySelector('.buttons button')).transitionDuration"
    emulate(driver, prefers_reduced_motion="reduce")
    assert driver.execute_script(script) == "0s"


def check_paper(driver: Any) -> None:
    """On paper the page is white, also where dark is preferred; it has A4 pages, and nothing sticks out."""
    emulate(driver, "print", prefers_color_scheme="dark")
    size = {"width": 673, "height": 950, "deviceScaleFactor": 1, "mobile": False}  # A4 without its margins
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    ground = driver.execute_script("return getComputedStyle(document.documentElement).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert sticking_out(driver, "svg") == []
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    emulate(driver, prefers_color_scheme="dark")
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    content = base64.b64decode(printed["data"])
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
    assert len(boxes) >= 4  # each case begins a page
    assert {(round(float(width)), round(float(height))) for width, height in boxes} <= {
        (595, 842),
        (594, 841),
        (596, 842),
    }


def check_requests(driver: Any, address: str) -> None:
    """Nothing was asked for but the page itself, and the browser has no complaint."""
    assert [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    asked = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"])
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {address}
