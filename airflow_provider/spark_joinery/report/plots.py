"""The plots of a report: matplotlib draws them, the page's style sheet colours them."""

from __future__ import annotations

import io
import re
import warnings
from datetime import datetime
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from spark_joinery.errors import JoineryError
from spark_joinery.report.model import Distribution, HeavyKey
from spark_joinery.report.text import compact, key_name, percent, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Drawn in colours that stand for the variables of the style sheet, so that one drawing fits light and dark.
_INK, _MUTED, _LINE, _WHOLE, _PART = (f"#{i:02}{i:02}{i:02}" for i in range(1, 6))
_VARIABLES = {_INK: "ink", _MUTED: "muted", _LINE: "line", _WHOLE: "whole", _PART: "part"}

_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _MUTED,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.labelsize": 10,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "grid.color": _LINE,
    "grid.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "joinery",
    "text.color": _INK,
    "text.parse_math": False,  # a key may hold dollars
    "xtick.color": _LINE,
    "xtick.labelcolor": _MUTED,
    "ytick.labelcolor": _INK,
    "ytick.major.size": 0,
}
_WIDTH = 5.2
# Bars of keys that are not hot say little: the table has them.
_BARS = 10
_NUMBERS = re.compile(r"tinyint|smallint|int|bigint|float|double|decimal.*")
_TIMES = ("date", "timestamp", "timestamp_ntz")


class MatplotlibMissingError(JoineryError):
    """The library that draws the plots is not installed."""


def require_matplotlib() -> None:
    """Fail early, and with advice, if matplotlib is not installed.

    Raises:
        MatplotlibMissingError: If it cannot be imported.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MatplotlibMissingError(
            "The plots of the report need matplotlib: pip install 'spark-joinery[report]'."
        ) from error


def shares(distribution: Distribution, name: str) -> str:
    """Draw the share of all rows that each of the heaviest keys has, and that its largest part has.

    Args:
        distribution: A distribution with at least one key.
        name: Prefix of the ids in the drawing, which must be unique on the page.

    Returns:
        An SVG element.
    """
    hot = sum(key.is_hot for key in distribution.heaviest)
    keys = distribution.heaviest[: max(hot, _BARS)]
    title = f"Shares of the {len(keys)} heaviest keys"
    description = (
        f"The heaviest, {key_name(keys[0].values, 40)}, has {percent(distribution.share_before)} of all rows; "
        f"no part of a split key and no other key has more than {percent(distribution.share_after)}."
    )

    def draw(axes: Axes) -> None:
        at = range(len(keys))
        axes.barh(at, [100 * distribution.share(key.rows) for key in keys], color=_WHOLE, height=0.72)
        axes.barh(at, [100 * distribution.share(key.largest_part) for key in keys], color=_PART, height=0.72)
        axes.set_xlabel("% of all rows")
        axes.set_xlim(left=0)
        _format_numbers(axes)
        _name_rows(axes, keys)

    return _svg(draw, len(keys), name, title, description)


def boundaries(distribution: Distribution, name: str) -> str | None:
    """Draw where the parts of the hot keys begin and end, on the scale of the order column.

    Args:
        distribution: Any distribution.
        name: Prefix of the ids in the drawing.

    Returns:
        An SVG element; None if no boundary can be placed on a scale: there is none, or they are texts.
    """
    step = distribution.step
    placed = [(key, _places(key.boundaries[::step], distribution.order_type)) for key in distribution.heaviest]
    placed = [(key, places) for key, places in placed if places]
    if not placed:
        return None
    order_by = visible(distribution.order_by, 40)
    title = f"Boundaries between the parts of hot keys, by {order_by}"
    description = f"One row for each of {len(placed)} hot keys; where marks are close, there are many rows."

    def draw(axes: Axes) -> None:
        for row, (_, places) in enumerate(placed):
            axes.plot([places[0], places[-1]], [row, row], color=_WHOLE, linewidth=5, solid_capstyle="butt")
            axes.plot(places, [row] * len(places), "|", color=_PART, markersize=9, markeredgewidth=1.8)
        axes.set_xlabel(order_by)
        axes.margins(x=0.04)
        _name_rows(axes, tuple(key for key, _ in placed))
        if distribution.order_type in _TIMES:
            _format_dates(axes)
        else:
            _format_numbers(axes)

    return _svg(draw, len(placed), name, title, description)


def _places(values: tuple[str, ...], order_type: str) -> list[Any]:
    """Places of values on a scale; values that have no place, such as NaN, are left out."""
    try:
        if _NUMBERS.fullmatch(order_type):
            return [number for number in map(float, values) if abs(number) < 1e300]
        if order_type in _TIMES:
            return [_moment(value) for value in values]
    except ValueError:
        # years beyond 9999
        pass
    return []


def _moment(text: str) -> datetime:
    """Read a date or time as Spark writes it, to the second, which is finer than any plot."""
    return datetime.fromisoformat(text.partition(".")[0])


def _name_rows(axes: Axes, keys: tuple[HeavyKey, ...]) -> None:
    """One row per key, the first at the top."""
    axes.set_yticks(range(len(keys)), [key_name(key.values, 18) for key in keys])
    axes.set_ylim(len(keys) - 0.4, -0.6)
    axes.grid(axis="x")
    axes.set_axisbelow(True)


def _format_dates(axes: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _format_numbers(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(lambda value, _: compact(value))


def _svg(draw: Any, rows: int, name: str, title: str, description: str) -> str:
    """Draw one panel and make it an element of a page."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # matplotlib measures texts with its own font, which lacks many scripts; the browser's fonts have them
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=(_WIDTH, 0.6 + 0.22 * rows), layout="constrained")
        draw(figure.subplots())
        output = io.StringIO()
        figure.savefig(output, format="svg", metadata={"Date": None})
    return _for_page(output.getvalue(), name, title, description)


def _for_page(svg: str, name: str, title: str, description: str) -> str:
    """Make a file's SVG part of a page: no ids twice, no styles of its own, no links out, a title and a description."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    referenced = set(re.findall(r"(?:url\(|href=\")#(\w+)", svg))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        if attributes.get("id") in referenced:
            attributes["id"] = f"{name}-{attributes['id']}"
        else:
            attributes.pop("id", None)
        if "href" in attributes:
            attributes["href"] = f"#{name}-{attributes['href'].removeprefix('#')}"
        element.attrib = {key: _adapt(value, name) for key, value in attributes.items()}
    for tag, text in (("desc", description), ("title", title)):
        child = ElementTree.Element(tag, {"id": f"{name}-{tag}"})
        child.text = text
        root.insert(0, child)
    box = root.attrib["viewBox"]
    root.attrib = {"viewBox": box, "role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    return ElementTree.tostring(root, encoding="unicode")


def _adapt(attribute: str, name: str) -> str:
    """Point references at renamed ids, and colours at the page's variables; leave fonts to the page."""
    attribute = attribute.replace("url(#", f"url(#{name}-")
    attribute = re.sub(r"font-family:[^;]*;?\s*|(?<=font: )([\d.]+px) [^;]*", r"\1", attribute)
    return re.sub(r"#(0[1-5])\1\1", lambda found: f"var(--{_VARIABLES[found[0]]})", attribute)
