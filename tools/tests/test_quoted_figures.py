"""Figures that a page quotes from a table must be those of the table after every measurement."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORES = ("gcm", "ocb3", "elmd", "copa", "eme2")


def text_of(page: str) -> str:
    """Returns the text of a page on one line, with tables a row per line."""
    return re.sub(r"(?<!\|)\n(?![|\n])", " ", (ROOT / page).read_text())


def row(page: str, *begin: str) -> list[str]:
    """Returns the cells of the only row of a page's tables whose first cells are these."""
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in text_of(page).splitlines()
        if line.startswith("|")
    ]
    (found,) = [cells for cells in rows if cells[: len(begin)] == list(begin)]
    return found


class Figures(unittest.TestCase):
    def assert_quoted(self, page: str, sentence: str, *figures: str):
        """Asserts that a page has this sentence once, with these figures in place of its groups."""
        found = re.findall(sentence, text_of(page))
        self.assertEqual(found, [figures if len(figures) > 1 else figures[0]], f"{page}: {sentence}")

    def test_the_speed_of_columns(self):
        cells = row("docs/columns-numbers.md", "seal 64-byte values, `random`, one thread")
        speed, times = float(cells[1].split()[0]), float(cells[3])
        for page in ("docs/columns.md", "python/README.md"):
            sentence = r"seals ([\d.]+) million 64-byte values .*?\[(\d+) times"
            self.assert_quoted(page, sentence, f"{speed:.1f}", f"{times:.0f}")

    def test_the_time_of_spark(self):
        jar = row("docs/columns-numbers.md", "with the jar, `random`")[2]
        theirs = row("docs/columns-numbers.md", "`aes_encrypt`")[2]
        sentence = r"with the jar takes ([\d.]+ s) with two executors .*? compared with ([\d.]+ s)"
        self.assert_quoted("README.md", sentence, jar, theirs)

    def test_the_time_of_gcm_siv_in_pipelines(self):
        table = (ROOT / "docs/c.md").read_text().split("| AES-128-GCM-SIV |")[1].split("| AES-128-CBC |")[0]
        ratios = [int(line.split("|")[-2]) for line in table.strip().splitlines()]
        sentence = r"GCM-SIV is (\d+) to (\d+) times as fast as OpenSSL's"
        self.assert_quoted("docs/c.md", sentence, str(min(ratios)), str(max(ratios)))

    def test_the_area_and_clock_of_hardware(self):
        sentence = r"default build takes ([\d ]+) LUTs, and the timing model gives it (\d+) MHz"
        for core in CORES:
            _, _, _, area, clock, _ = row("rtl/README.md", f"`{core}`")
            digits = area.removesuffix(" LUT")
            self.assert_quoted(f"rtl/docs/{core}.md", sentence, f"{digits[:-3]} {digits[-3:]}", clock)


if __name__ == "__main__":
    unittest.main()
