"""Pictures for a page: width, fonts and files; mathematics, marks, labels and legends by their meaning."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from PIL import Image

from paramverify.algebra.volumes import VolumeShare
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.reports import formulas
from paramverify.reports.pictures import plot_style
from paramverify.reports.pictures.plot_style import Page, inches, percents
from paramverify.reports.pictures.region_pictures import Stretch, line_figure
from paramverify.reports.synthesis_reports import PRIVACY

ZERO, ONE = Fraction(0), Fraction(1)
LINE = "cases/geometric-independent-below.toml"
ENDS = {
    0.0: "0",
    0.05: "≈ 0.0512345",
    0.06: "sqrt(19)/100",
    0.07: "3/2 - sqrt(5)/2",
    0.3: "≈ 0.3000001",
    0.31: "≈ 0.3100001",
    0.9: "exp(-1/12)",
    1.0: "1",
}


def third() -> VolumeShare:
    return VolumeShare(Fraction(1, 3), Fraction(1, 3))


def line(width: str, heading: bool = True) -> Figure:
    """Draws seven intervals with long ends that lie near each other, and returns the figure."""
    statuses = ("safe", "violating", "undecided")
    stretches = [
        Stretch(statuses[k % 3], low, high, False, k == 2, ENDS[low], ENDS[high])
        for k, (low, high) in enumerate(pairwise(ENDS))
    ]
    page = Page(inches(width), heading=heading)
    with matplotlib.rc_context({**plot_style.STYLE, **plot_style.LOOK_STYLE, **page.style()}):
        figure = line_figure(
            stretches,
            "alpha",
            box=(ZERO, ONE),
            title="A price of $5",
            notes=["epsilon = ln(3/2)", "for all pB in (0, 1)"],
            curve=None,
            shares=dict.fromkeys(statuses, third()),
            words=PRIVACY,
            page=page,
        )
        figure.draw_without_rendering()
    return figure


@pytest.mark.slow
@pytest.mark.parametrize("width", ["8cm"])
def test_labels_do_not_meet(width: str) -> None:
    """Every end has its label, no two of them overlap, none is cut off, and leaders begin at their ends."""
    figure = line(width)
    (axes,) = figure.axes
    shown = list(axes.texts)
    assert [text.get_text() for text in shown] == [formulas.text(told) for told in ENDS.values()]
    boxes = [text.get_window_extent() for text in shown]
    for one, other in pairwise(boxes):
        assert one.x1 <= other.x0
    for box in boxes:
        assert box.x0 >= -2
        assert box.x1 <= figure.bbox.x1 + 2
        assert box.y1 < axes.transData.transform((0, -0.5))[1]
    leaders = [line for line in axes.lines if line.get_gid() == "leader"]
    assert [line.get_xdata()[0] for line in leaders] == pytest.approx(list(ENDS))


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.05, 1)), min_size=1, max_size=25), st.floats(1, 6))
def test_labels_are_spread(given: Sequence[tuple[float, float]], end: float) -> None:
    """Labels are in the order of their places, inside of the line, and do not overlap."""
    wanted = [(place, str(k), min(wide, end)) for k, (place, wide) in enumerate(sorted(given))]
    found = plot_style.spread(wanted, end)
    for one, other in pairwise(found):
        assert one.place <= other.place
        assert one.right <= other.left + 1e-9
    assert all(label.left >= -1e-9 and label.right <= end + 1e-9 for label in found)
    if plot_style.fits([wide for _, _, wide in wanted], end):
        assert len(found) == len(wanted)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=4).filter(sum))
def test_shares_add_up(parts: list[int]) -> None:
    """Shares in a legend add up to 100 %, each is less than a unit off, and ≈ stands where one is rounded."""
    exact = {str(k): Fraction(part, sum(parts)) for k, part in enumerate(parts)}
    told = percents({name: VolumeShare(value, value) for name, value in exact.items()})
    numbers = {name: Fraction(re.sub("[^0-9.]", "", text)) for name, text in told.items()}
    for name, value in exact.items():
        assert abs(numbers[name] - 100 * value) < Fraction(1, 10)
        assert told[name].startswith(("≈", "<", ">")) == (numbers[name] != 100 * value)
    if not any(text.startswith(("<", ">")) for text in told.values()):
        assert sum(numbers.values()) == 100


def test_a_little_does_not_become_nothing() -> None:
    """A share below a tenth of a percent is told as a bound, and so is its complement."""
    little = Fraction(1, 10**6)
    assert percents({"a": VolumeShare(little, little), "b": VolumeShare(1 - little, 1 - little)}) == {
        "a": "< 0.1 %",
        "b": "> 99.9 %",
    }
    assert percents({"a": VolumeShare(ONE, ONE), "b": VolumeShare(ZERO, ZERO)}) == {"a": "100 %", "b": "0 %"}
    assert percents({"a": VolumeShare(ZERO, ONE)}) == {"a": "between 0 % and 100 %"}


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("pA", "$p_{A}$"),
        ("alpha", r"$\alpha$"),
        ("alpha_1", r"$\alpha_{1}$"),
        ("q12", "$q_{12}$"),
        ("truth", "truth"),
        ("rate_max", r"$\mathrm{rate}_{\mathrm{max}}$"),
        ("sqrt(19)/10", r"$\sqrt{19}/10$"),
        ("≈ 0.25", "≈ 0.25"),
        ("bound 3/2", "bound 3/2"),
        ("epsilon = ln(2) * distance", r"$\varepsilon=\ln(2)\,\mathrm{distance}$"),
        ("2*p**2/(1+p) <= 3", r"$2\,p^{2}/(1+p)\leq 3$"),
        ("pA and p_A", r"$\mathrm{pA}\ \mathrm{and}\ \mathrm{p\_A}$"),
        ("costs $5", r"costs \$5"),
    ],
)
def test_mathematics(told: str, shown: str) -> None:
    """Names and expressions are set as mathematics that matplotlib reads; equal looks are avoided."""
    assert formulas.text(told) == shown
    MathTextParser("path").parse(shown)


def test_widths() -> None:
    """A width has a unit, centimetres where there is none, and is refused where there is no picture."""
    assert inches("8cm") == inches("8") == inches("80 mm") == pytest.approx(8 / 2.54)
    assert inches("240pt") == pytest.approx(240 / 72)
    for wrong in ("wide", "8 feet", "-3cm", "1cm", "9000in"):
        with pytest.raises(InputError, match="--width"):
            inches(wrong)
    with pytest.raises(InputError, match="finds no font"):
        Page(font="No Such Font").style()


@pytest.mark.slow
def test_files_for_a_paper(root: Path, tmp_path: Path) -> None:
    """A PDF has the width asked for, its fonts and no date; a PNG has 300 dpi, an SVG a white ground."""
    for name in ("one.pdf", "two.pdf", "one.png", "one.svg"):
        picture = ["--plot", str(tmp_path / name), "--width", "8cm", "--font", "serif", "--font-size", "7"]
        assert run(["synthesize", str(root / LINE), "--exact", *picture, "--no-title"]) == 0
    data = (tmp_path / "one.pdf").read_bytes()
    assert data == (tmp_path / "two.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    assert b"CreationDate" not in data
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", data)
    assert box
    assert float(box[1]) == pytest.approx(80 / 25.4 * 72, abs=0.01)
    fonts = set(re.findall(rb"/FontName /(?:\w+\+)?([\w-]+)", data))
    assert fonts
    assert all(font.startswith(b"DejaVuSerif") for font in fonts)
    assert data.count(b"/FontFile2") >= len(fonts)
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL)
    assert any(b" Tf" in zlib.decompress(stream) for stream in streams if stream[:1] == b"x")
    with Image.open(tmp_path / "one.png") as image:
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert image.width == pytest.approx(80 / 25.4 * 300, abs=1)
    tree = ElementTree.parse(tmp_path / "one.svg").getroot()
    ground = next(e for e in tree.iter() if e.tag.endswith("path") and "fill" in e.get("style", ""))
    assert "fill: #ffffff" in ground.get("style", "")
    assert "below the tight budget" not in (tmp_path / "one.svg").read_text()
    assert any(
        "".join(e.itertext()).strip() == "largest ratio" for e in tree.iter() if e.tag.endswith("text")
    )


def test_options_of_pictures_go_with_plot(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An option of a picture without a picture is a mistake in usage, in every command that draws."""
    for command in (["synthesize", LINE], ["logic", "cases/logic/survey-coin.toml"], ["sample", LINE]):
        assert run([command[0], str(root / command[1]), "--width", "8cm"]) == 2
        assert "--width needs a picture: add --plot" in capsys.readouterr().err
