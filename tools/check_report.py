#!/usr/bin/env python3
"""Check the HTML report of `sealcomb study` in a browser.

usage: check_report.py [--sealcomb PATH] [--browser PATH] [--shots FOLDER] [--sample N] [--seed SEED]
                       [REPORT...]

Generates three small reports with the command PATH (default: target/debug/sealcomb), or reads the given
REPORTs. Checks every cipher, message length and direction at the widths of a phone, a laptop and a large
screen, in light and dark mode. Also folds and unfolds the sections, filters by mode, reloads the selection
from the address, and prints. report-faults.js in this folder detects the faults: clipped or overlapping
text, a page wider than its window, marks through labels, legend entries without a series, papers' curves
that look like others, and more. Finally plants a fault of each kind, which must be detected.

--shots FOLDER  also write screenshots
--sample N      check every Nth state and width, and plant every Nth fault; the seed selects the first, so
                that N consecutive seeds cover all of them
--seed SEED     default: SEALCOMB_SEED, otherwise 0
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

HERE = Path(__file__).resolve().parent
FAULTS = (HERE / "report-faults.js").read_text().rstrip()
WIDTHS = (390, 1280, 1920)
MORE_WIDTHS = (320, 360, 480, 600, 640, 768, 900, 1024, 1100, 1440, 2560)
SCHEMES = ("light", "dark")
# Window height in pixels. The folded page fits in four windows of a computer.
HEIGHT = 800
# Timeout in milliseconds, a hundred times the usual duration, because the machine may be busy.
TIMEOUT = 300_000
# Timeout in milliseconds for conditions that hold within a thousandth of it, and never if they are broken.
SETTLE_TIMEOUT = 10_000
# All kinds of modes, longer keys, a cipher without CPU instructions; and two minimal studies.
STUDIES = (
    [
        "--modes",
        "aes128-gcm,aes128-cbc,aes128-ocb3-t128,aes128-poet,aes128-elmd66,aes128-julius-ecb,aes256-gcm,"
        "serpent128-ocb3",
    ],
    ["--modes", "serpent128-ocb3", "--lengths", "2048"],
    ["--modes", "aes128-gcm", "--lengths", "64"],
)
DATA = re.compile(r'(?<=<script type="application/json" id="data">).*?(?=</script>)', re.DOTALL)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Watched:
    """A page with its console messages and network requests."""

    def __init__(self, page: Page, report: Path) -> None:
        self.page = page
        self.messages: list[str] = []
        page.on("console", lambda message: self.on_message(message.type, message.text))
        page.on("pageerror", lambda error: self.on_message("error", str(error)))
        page.on("request", lambda request: self.on_request(request.url))
        page.goto(report.as_uri())

    def on_message(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.messages.append(f"console: {text}")

    def on_request(self, url: str) -> None:
        if not url.startswith("file:"):
            self.messages.append(f"network: {url}")

    def faults(self) -> list[str]:
        found = [*self.messages, *self.page.evaluate(f"{FAULTS}.find()")]
        self.messages.clear()
        return found


@contextmanager
def opened(browser: Browser, report: Path, width: int, scheme: str, script: str = "") -> Iterator[Watched]:
    """Open the report in a window. `script` runs before the page's own script."""
    context = browser.new_context(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    context.set_default_timeout(TIMEOUT)
    if script:
        context.add_init_script(script)
    try:
        yield Watched(context.new_page(), report)
    finally:
        context.close()


def unfold(page: Page) -> None:
    """Open all sections, their details and the list of modes."""
    page.evaluate("() => document.getElementById('expand').click()")
    page.evaluate("() => { document.getElementById('picker').open = true; }")


def choices(page: Page, control: str) -> list[str]:
    return page.eval_on_selector_all(f"#{control} option", "(all) => all.map((one) => one.value)")


def choose(page: Page, control: str, value: str) -> None:
    page.evaluate(
        "([id, value]) => { const control = document.getElementById(id); control.value = value;"
        " control.dispatchEvent(new Event('change')); }",
        [control, value],
    )


def states(page: Page, all_lengths: bool) -> Iterator[str]:
    """Set the controls to each cipher and direction in turn, and to each length if `all_lengths`."""
    first = page.input_value("#lengths")
    for cipher in choices(page, "cipher"):
        choose(page, "cipher", cipher)
        for lengths in choices(page, "lengths") if all_lengths else [first]:
            choose(page, "lengths", lengths)
            for direction in choices(page, "direction"):
                choose(page, "direction", direction)
                yield f"{cipher}, {lengths}, {direction}"


def scrolled(watched: Watched) -> Iterator[str]:
    """Yield text that is clipped in tables after scrolling sideways to several positions."""
    page = watched.page
    for part in (0.3, 0.55, 1):
        page.evaluate(
            "(part) => { for (const box of document.querySelectorAll('.scroll'))"
            " box.scrollLeft = part * (box.scrollWidth - box.clientWidth); }",
            part,
        )
        yield from (fault for fault in watched.faults() if fault.startswith("cut"))
    page.evaluate("() => { for (const box of document.querySelectorAll('.scroll')) box.scrollLeft = 0; }")


def by_keyboard(page: Page) -> Iterator[str]:
    """Yield what the keyboard cannot reach: tooltips of charts, and columns outside the view."""
    for chart in ("#length .many > div", "#heat .maps > div"):
        if not page.locator(chart).count():
            continue
        page.locator(chart).first.focus()
        page.keyboard.press("ArrowRight")
        box = page.locator("#tip").bounding_box()
        if not box or box["x"] < 0 or box["x"] + box["width"] > page.viewport_size["width"]:
            yield f"keyboard: no visible tooltip at {chart}"
        page.keyboard.press("Escape")
        if page.locator("#tip").is_visible():
            yield f"keyboard: Escape does not close the tooltip at {chart}"
    stuck = page.eval_on_selector_all(
        ".scroll",
        "(all) => all.filter((box) => box.scrollWidth > box.clientWidth && box.tabIndex !== 0).length",
    )
    if stuck:
        yield f"keyboard: {stuck} tables cannot be scrolled"


def settles(page: Page, function: str, expected: object) -> bool:
    """Return whether a function in the page returns the expected value soon. Some events arrive late."""
    try:
        page.wait_for_function(
            f"(expected) => ({function})() === expected", arg=expected, timeout=SETTLE_TIMEOUT
        )
    except PlaywrightTimeout:
        return False
    return True


def folds(watched: Watched) -> Iterator[str]:
    """Yield faults while sections are folded, unfolded by keyboard one by one or together, and printed."""
    page = watched.page
    sections = "#sections section:not([hidden])"
    yield from watched.faults()
    count = "() => [...document.querySelectorAll('{}')].filter((one) => {}).length"
    is_open = count.format(f"{sections} > details", "one.open")
    is_drawn = count.format(f"{sections} .body", "one.checkVisibility() && one.clientHeight > 20")
    total = page.locator(sections).count()
    if page.evaluate(is_open):
        yield "folds: a section is open initially"
    page.locator(f"{sections} summary").first.focus()
    page.keyboard.press("Enter")
    if not settles(page, is_open, 1) or not settles(page, is_drawn, 1):
        yield "folds: not exactly the first section opens"
    for button, expected in (("#expand", total), ("#collapse", 0)):
        page.locator(button).focus()
        page.keyboard.press("Enter")
        if not settles(page, is_open, expected) or not settles(page, is_drawn, expected):
            yield f"folds: after {button}, not {expected} of {total} sections are open and drawn"
    page.emulate_media(media="print")
    if not settles(page, is_open, total) or not settles(page, is_drawn, total):
        yield "folds: a section is not printed"
    if tables := page.evaluate(count.format(".scroll", "one.scrollWidth > one.clientWidth + 1")):
        yield f"folds: {tables} tables are clipped in print"
    yield from watched.faults()
    page.emulate_media(media="screen")
    if not settles(page, is_open, 0):
        yield "folds: a section remains open after printing"


def filters(watched: Watched) -> Iterator[str]:
    """Yield faults of the filter by mode, and of the address that keeps the selection."""
    page = watched.page
    names = "(all) => all.map((one) => one.textContent)"
    before = page.eval_on_selector_all("#speed text.ink", names)
    modes = page.eval_on_selector_all("#choices input", "(all) => all.map((one) => one.value)")
    unfold(page)
    page.locator("#modes").focus()
    page.keyboard.type(modes[0].upper())
    typed = page.eval_on_selector_all("#speed text.ink", names)
    if len(modes) > 1 and not 0 < len(typed) < len(before):
        yield f"filters: {modes[0]} shows {typed} of {before}"
    yield from watched.faults()
    if len(modes) > 1:
        page.locator("#choices input").nth(1).focus()
        page.keyboard.press("Space")
        if page.input_value("#modes") != ",".join(modes[:2]):
            yield f"filters: the list selects {page.input_value('#modes')}, not {modes[:2]}"
        yield from watched.faults()
    is_open = "document.querySelectorAll('#sections details[open]').length"
    # The address also keeps open sections, whose toggle events arrive late.
    open_in_address = "new URLSearchParams(location.hash.slice(1)).get('open')"
    settles(page, f"() => {open_in_address}?.split(',').length === {is_open}", True)
    text_of = "document.querySelector('#speed .body').textContent"
    chosen = f"() => [location.hash, document.querySelector('#modes').value, {text_of}, {is_open}]"
    kept = page.evaluate(chosen)
    if "modes=" not in kept[0]:
        yield "filters: the address does not contain the modes"
    page.reload()
    if page.evaluate(chosen) != kept:
        yield "filters: reloading the address shows something else"
    yield from watched.faults()
    page.fill("#modes", "no such mode")
    if page.locator("#speed svg[role=img]").count() or "none of" not in page.inner_text("#matched"):
        yield "filters: an unknown mode shows something"
    page.fill("#modes", "")
    if page.eval_on_selector_all("#speed text.ink", names) != before:
        yield "filters: clearing the filter does not show all modes"


Item = TypeVar("Item")


class Sample:
    """Selects every Nth item, counting across lists."""

    def __init__(self, every: int, seed: int) -> None:
        self.every = every
        self.count = seed % every

    def of(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            self.count += 1
            if self.count % self.every == 0:
                yield item


def check_report(browser: Browser, report: Path, shots: Path | None, sample: Sample) -> Iterator[str]:
    """Yield all faults of a report with the place where each was found."""
    views = 0
    for scheme in SCHEMES:
        for width in WIDTHS:
            with opened(browser, report, width, scheme) as watched:
                page = watched.page
                place = f"{report.name}, {width} pixels, {scheme}, folded"
                yield from (f"{place}: {fault}" for fault in watched.faults())
                if shots:
                    page.screenshot(path=shots / f"{place.replace(', ', '-')}.png", full_page=True)
                unfold(page)
                # The layout of dark mode is that of light mode, so not every length is checked again.
                all_lengths = scheme == "light" and not report.name.startswith("variant")
                for state in sample.of(states(page, all_lengths)):
                    views += 1
                    place = f"{report.name}, {width} pixels, {scheme}, {state}"
                    yield from (f"{place}: {fault}" for fault in watched.faults())
                    if shots:
                        page.screenshot(path=shots / f"{place.replace(', ', '-')}.png", full_page=True)
                if scheme == "light":
                    choose(page, "cipher", choices(page, "cipher")[0])
                    place = f"{report.name}, {width} pixels"
                    yield from (f"{place}, scrolled: {fault}" for fault in scrolled(watched))
                    yield from (f"{place}: {fault}" for fault in by_keyboard(page))
    for scheme in SCHEMES:
        for check in (folds, filters):
            with opened(browser, report, 1280, scheme) as watched:
                yield from (f"{report.name}, {scheme}: {fault}" for fault in check(watched))
    with opened(browser, report, WIDTHS[0], SCHEMES[0]) as watched:
        unfold(watched.page)
        for width in sample.of(MORE_WIDTHS):
            views += 1
            watched.page.set_viewport_size({"width": width, "height": HEIGHT})
            watched.page.wait_for_function("(width) => innerWidth === width", arg=width)
            watched.page.evaluate("() => new Promise(requestAnimationFrame)")
            yield from (f"{report.name}, {width} pixels: {fault}" for fault in watched.faults())
    print(f"{report.name}: {views} views checked")


# Planted faults: the kind of fault, the check that must detect it, and the script that causes it.
BROKEN = (
    ("folds", folds, "onload = () => { document.querySelector('#expand').onclick = null; }"),
    ("folds", folds, "addEventListener('toggle', (event) => event.stopImmediatePropagation(), true)"),
    ("folds", folds, "matchMedia = () => ({ addEventListener() {} })"),
    ("folds", folds, "onload = () => document.styleSheets[0].insertRule('th { min-width: 300px }')"),
    ("filters", filters, "onload = () => { document.querySelector('#modes').oninput = null; }"),
    ("filters", filters, "onload = () => { document.querySelector('#choices').onchange = null; }"),
    ("filters", filters, "history.replaceState = () => {}"),
    ("filters", filters, "history.replaceState(null, '', location.pathname)"),
)


def undetected(browser: Browser, report: Path, sample: Sample) -> Iterator[str]:
    """Yield planted faults that were not detected."""
    with opened(browser, report, 1280, "light") as watched:
        kinds = watched.page.evaluate(f"Object.keys({FAULTS}.make)")
    for kind in sample.of(kinds):
        for scheme in SCHEMES if kind in ("contrast", "pale") else SCHEMES[:1]:
            with opened(browser, report, 1280, scheme) as watched:
                unfold(watched.page)
                watched.page.evaluate(f"() => {{ {FAULTS}.make.{kind}(); }}")
                if not any(fault.startswith(f"{kind}:") for fault in watched.faults()):
                    yield f"planted fault not detected: {kind}, {scheme}"
    for kind, check, script in sample.of(BROKEN):
        with opened(browser, report, 1280, "light", script) as watched:
            if not any(fault.startswith(f"{kind}:") for fault in check(watched)):
                yield f"planted fault not detected: {script}"
    with opened(browser, report, 1280, "light") as watched:
        watched.page.evaluate("() => { console.error('planted'); }")
        if not watched.faults():
            yield "planted console error not detected"
    with opened(browser, report, 390, "light") as watched:
        unfold(watched.page)
        watched.page.add_style_tag(content=".scroll.wide { scroll-snap-type: none; }")
        if not any(scrolled(watched)):
            yield "planted fault not detected: tables that do not snap to columns"


def variant(report: Path) -> Path:
    """Return a variant of a report with long names and zero cost per message."""
    text = report.read_text()
    data = json.loads(DATA.search(text)[0])
    data["study"]["machine"]["cpu"] = (
        "A Processor With(R) a Very Long Name(TM) Gold 9999-XYZ CPU @ 2.40GHz (" + 40 * "x" + ")"
    )
    data["study"]["conditions"]["trace"] = "/home/somebody/" + 20 * "long-folder/" + "packets.pcap"
    data["study"]["conditions"].update(
        date="2026-11-26T14:28:46Z",
        commit=f"{40 * 'a'}-dirty",
        kernel="6.1.155-a-name-of-a-distribution-and-its-revision-that-does-not-end",
        compiler="rustc 1.89.0 (29483883e 2025-08-04) (built from a source tarball of <somebody>)",
        governor=None,
        load=0.4249,
    )
    for cost in data["study"]["costs"]:
        cost["cycles_per_message"] = 0.0
    data["tables"].append(
        {
            "title": "Words " + 30 * "and words ",
            "header": ["what", "holds"],
            "rows": [["CBC", 12 * "so it is, "]],
        }
    )
    return write(data, report.with_name("variant.html"), text)


def bare(report: Path) -> Path:
    """Return a variant of a report that contains only results, without the optional parts of a study."""
    text = report.read_text()
    data = json.loads(DATA.search(text)[0])
    for name, values in data["study"].items():
        if isinstance(values, list) and name != "results":
            data["study"][name] = []
    for name in ("date", "commit", "kernel", "compiler", "governor", "load"):
        data["study"]["conditions"].pop(name, None)
    data["tables"] = data["units"]["rows"] = []
    return write(data, report.with_name("variant-bare.html"), text)


def write(data: dict, report: Path, text: str) -> Path:
    report.write_text(DATA.sub(lambda _: json.dumps(data).replace("</", "<\\/"), text))
    return report


def explained(browser: Browser, report: Path) -> Iterator[str]:
    with opened(browser, report, 1280, "light") as watched:
        unfold(watched.page)
        if "Not measurable:" not in watched.page.inner_text("#costs"):
            yield "a zero cost per message is not explained"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sealcomb", type=Path, default=HERE.parent / "target/debug/sealcomb")
    parser.add_argument("--browser", type=Path, default=Path("/usr/bin/chromium"))
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--sample", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=os.environ.get("SEALCOMB_SEED") or 0)
    parser.add_argument("reports", type=Path, nargs="*", metavar="REPORT")
    arguments = parser.parse_args()
    sample = Sample(arguments.sample, arguments.seed)
    print(f"sample: one in {sample.every} states and faults, seed {arguments.seed}")
    start = time.monotonic()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        reports = [report.resolve() for report in arguments.reports]
        if not reports:
            for i, options in enumerate(STUDIES):
                reports.append(Path(folder) / f"study{i + 1}.html")
                command = [arguments.sealcomb, "study", "--quick", *options, "--report", reports[-1]]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            reports += [bare(reports[0]), variant(reports[0])]
        print(f"{len(reports)} reports after {time.monotonic() - start:.0f} s")
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=FLAGS, timeout=TIMEOUT)
        found = [
            fault for report in reports for fault in check_report(browser, report, arguments.shots, sample)
        ]
        found += undetected(browser, reports[0], sample)
        if not arguments.reports:
            found += explained(browser, reports[-1])
        browser.close()
    for fault in found[:40]:
        print(fault, file=sys.stderr)
    print(f"{len(found)} faults, {time.monotonic() - start:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
