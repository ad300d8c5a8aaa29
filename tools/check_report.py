#!/usr/bin/env python3
"""Look at the HTML report of `sealcomb study` in a browser, and fail where a reader would stumble.

usage: check_report.py [--sealcomb PATH] [--browser PATH] [--shots FOLDER] [REPORT...]

Makes two small reports with the command PATH (default: target/debug/sealcomb), or takes those that are
named, and goes through every cipher, message length and direction at the widths of a telephone, a laptop and
a large screen, light and dark. report-faults.js, beside this file, says what is wrong with a page: text that
is cut or stands on other text, a page wider than its window, marks through labels, legends of what is not
there, and more. At the end each kind of fault is put into a page on purpose, and must be found.

--shots FOLDER  also write pictures of what was looked at
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).resolve().parent
FAULTS = (HERE / "report-faults.js").read_text().rstrip()
WIDTHS = (390, 1280, 1920)
MORE_WIDTHS = (320, 360, 480, 600, 640, 768, 900, 1024, 1100, 1440, 2560)
SCHEMES = ("light", "dark")
HEIGHT = 900
# Milliseconds for what takes a hundredth of that: a machine may be busy.
PATIENCE = 300_000
# One cipher with every kind of mode, one with longer keys, one without instructions of its own.
STUDIES = (
    [
        "--modes",
        "aes128-gcm,aes128-cbc,aes128-ocb3-t128,aes128-poet,aes128-elmd66,aes128-julius-ecb,aes256-gcm,"
        "serpent128-ocb3",
    ],
    ["--modes", "serpent128-ocb3", "--lengths", "2048"],
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
    """A page, and what it complained of or asked for."""

    def __init__(self, page: Page, report: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda message: self.complain(message.type, message.text))
        page.on("pageerror", lambda error: self.complain("error", str(error)))
        page.on("request", lambda request: self.ask(request.url))
        page.goto(report.as_uri())

    def complain(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(f"console: {text}")

    def ask(self, url: str) -> None:
        if not url.startswith("file:"):
            self.complaints.append(f"network: {url}")

    def faults(self) -> list[str]:
        found = [*self.complaints, *self.page.evaluate(f"{FAULTS}.find()")]
        self.complaints.clear()
        return found


@contextmanager
def opened(browser: Browser, report: Path, width: int, scheme: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    try:
        yield Watched(context.new_page(), report)
    finally:
        context.close()


def choices(page: Page, control: str) -> list[str]:
    return page.eval_on_selector_all(f"#{control} option", "(all) => all.map((one) => one.value)")


def choose(page: Page, control: str, value: str) -> None:
    page.evaluate(
        "([id, value]) => { const control = document.getElementById(id); control.value = value;"
        " control.dispatchEvent(new Event('change')); }",
        [control, value],
    )


def states(page: Page, all_lengths: bool) -> Iterator[str]:
    """Puts the controls into each state in turn; the lengths as well, or only the ciphers and directions."""
    first = page.input_value("#lengths")
    for cipher in choices(page, "cipher"):
        choose(page, "cipher", cipher)
        for lengths in choices(page, "lengths") if all_lengths else [first]:
            choose(page, "lengths", lengths)
            for direction in choices(page, "direction"):
                choose(page, "direction", direction)
                yield f"{cipher}, {lengths}, {direction}"


def scrolled(watched: Watched) -> Iterator[str]:
    """What is cut in tables that are scrolled sideways, wherever they come to rest."""
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
    """What cannot be had without a pointer: the tips of charts, and the columns out of sight."""
    for chart in ("#length .many > div", "#heat .maps > div"):
        if not page.locator(chart).count():
            continue
        page.locator(chart).first.focus()
        page.keyboard.press("ArrowRight")
        box = page.locator("#tip").bounding_box()
        if not box or box["x"] < 0 or box["x"] + box["width"] > page.viewport_size["width"]:
            yield f"keyboard: no tip in sight at {chart}"
        page.keyboard.press("Escape")
        if page.locator("#tip").is_visible():
            yield f"keyboard: the tip at {chart} stays"
    stuck = page.eval_on_selector_all(
        ".scroll",
        "(all) => all.filter((box) => box.scrollWidth > box.clientWidth && box.tabIndex !== 0).length",
    )
    if stuck:
        yield f"keyboard: {stuck} tables that cannot be scrolled"


def look(browser: Browser, report: Path, shots: Path | None) -> Iterator[str]:
    """All faults of a report, each with where it was seen."""
    looks = 0
    for scheme in SCHEMES:
        for width in WIDTHS:
            with opened(browser, report, width, scheme) as watched:
                page = watched.page
                page.eval_on_selector_all("details", "(all) => all.forEach((one) => { one.open = true; })")
                # What is dark lies where it lay in the light: its colours are looked at, not every number.
                for state in states(
                    page, all_lengths=scheme == "light" and not report.name.startswith("variant")
                ):
                    looks += 1
                    place = f"{report.name}, {width} pixels, {scheme}, {state}"
                    yield from (f"{place}: {fault}" for fault in watched.faults())
                    if shots:
                        page.screenshot(path=shots / f"{place.replace(', ', '-')}.png", full_page=True)
                if scheme == "light":
                    choose(page, "cipher", choices(page, "cipher")[0])
                    place = f"{report.name}, {width} pixels"
                    yield from (f"{place}, scrolled: {fault}" for fault in scrolled(watched))
                    yield from (f"{place}: {fault}" for fault in by_keyboard(page))
    with opened(browser, report, WIDTHS[0], SCHEMES[0]) as watched:
        for width in MORE_WIDTHS:
            looks += 1
            watched.page.set_viewport_size({"width": width, "height": HEIGHT})
            watched.page.wait_for_function("(width) => innerWidth === width", arg=width)
            watched.page.evaluate("() => new Promise(requestAnimationFrame)")
            yield from (f"{report.name}, {width} pixels: {fault}" for fault in watched.faults())
    print(f"{report.name}: {looks} looks")


def on_purpose(browser: Browser, report: Path) -> Iterator[str]:
    """Kinds of faults that were put into a page and not found."""
    with opened(browser, report, 1280, "light") as watched:
        kinds = watched.page.evaluate(f"Object.keys({FAULTS}.make)")
    for kind in kinds:
        with opened(browser, report, 1280, "light") as watched:
            watched.page.evaluate(f"() => {{ {FAULTS}.make.{kind}(); }}")
            if not any(fault.startswith(f"{kind}:") for fault in watched.faults()):
                yield f"a fault made on purpose was not found: {kind}"
    with opened(browser, report, 1280, "light") as watched:
        watched.page.evaluate("() => { console.error('on purpose'); }")
        if not watched.faults():
            yield "an error on the console was not found"
    with opened(browser, report, 390, "light") as watched:
        watched.page.add_style_tag(content=".scroll.wide { scroll-snap-type: none; }")
        if not any(scrolled(watched)):
            yield "tables that come to rest anywhere were not found"


def variant(report: Path) -> Path:
    """The same report with what a small study may lack: long names, and messages that cost nothing."""
    text = report.read_text()
    data = json.loads(DATA.search(text)[0])
    data["study"]["machine"]["cpu"] = (
        "A Processor With(R) a Very Long Name(TM) Gold 9999-XYZ CPU @ 2.40GHz (" + 40 * "x" + ")"
    )
    data["study"]["conditions"]["trace"] = "/home/somebody/" + 20 * "long-folder/" + "packets.pcap"
    for cost in data["study"]["costs"]:
        cost["cycles_per_message"] = 0.0
    data["tables"].append(
        {
            "title": "Words " + 30 * "and words ",
            "header": ["what", "holds"],
            "rows": [["CBC", 12 * "so it is, "]],
        }
    )
    written = report.with_name("variant.html")
    written.write_text(DATA.sub(lambda _: json.dumps(data).replace("</", "<\\/"), text))
    return written


def explained(browser: Browser, report: Path) -> Iterator[str]:
    with opened(browser, report, 1280, "light") as watched:
        if "None seen:" not in watched.page.inner_text("#costs"):
            yield "a message that seems to cost nothing is not explained"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sealcomb", type=Path, default=HERE.parent / "target/debug/sealcomb")
    parser.add_argument("--browser", type=Path, default=Path("/usr/bin/chromium"))
    parser.add_argument("--shots", type=Path)
    parser.add_argument("reports", type=Path, nargs="*", metavar="REPORT")
    arguments = parser.parse_args()
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
            reports.append(variant(reports[0]))
        print(f"{len(reports)} reports after {time.monotonic() - start:.0f} s")
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=FLAGS, timeout=PATIENCE)
        found = [fault for report in reports for fault in look(browser, report, arguments.shots)]
        found += on_purpose(browser, reports[0])
        if not arguments.reports:
            found += explained(browser, reports[-1])
        browser.close()
    for fault in found[:40]:
        print(fault, file=sys.stderr)
    print(f"{len(found)} faults, {time.monotonic() - start:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
