"""Draws how long answers take at half load, from the median to the slowest in a thousand, as an SVG."""

import math

from measure.settings import FOLDER, ROOT, TINY

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 480, 70, 150, 60, 62
NAMES = {"bare": "bare server", "append": "append in C", "receiptd": "receiptd"}
LEAST_MS, MOST_MS = 0.03, 100  # the same in each picture, so that two can be compared
SHARES = [50, 75, 90, 95, 99, 99.5, 99.9]
LABEL = 46  # the height of a label of a line
# The colours follow the reader's setting; the background is part of the picture, for readers that have none.
STYLE = """
  text { font: 16px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  text.title { font-size: 19px; font-weight: 600 } text.name { font-weight: 600 } text.quiet { fill: #59636e }
  .back { fill: #ffffff } .grid { stroke: #d1d9e0 } .faint { stroke: #eef1f4 }
  path { fill: none; stroke-width: 2.5; stroke-linejoin: round }
  text.a { fill: #6e7781 } text.b { fill: #bc4c00 } text.c { fill: #0969da }
  path.a { stroke: #6e7781 } path.b { stroke: #bc4c00 } path.c { stroke: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } text.quiet { fill: #9198a1 }
    .back { fill: #0d1117 } .grid { stroke: #3d444d } .faint { stroke: #21262d }
    text.a { fill: #9198a1 } text.b { fill: #f0883e } text.c { fill: #58a6ff }
    path.a { stroke: #9198a1 } path.b { stroke: #f0883e } path.c { stroke: #58a6ff }
  }"""


def across(rest):
    """The place of a percentile, by the share of the answers that are slower."""
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(0.5 / rest) / math.log(0.5 / 0.001)


def up(milliseconds):
    least, most = math.log(LEAST_MS), math.log(MOST_MS)
    place = (math.log(min(max(milliseconds, LEAST_MS), MOST_MS)) - least) / (most - least)
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * place


def grid():
    top, bottom, right = TOP, HEIGHT - BOTTOM, WIDTH - RIGHT
    for decade in (0.01, 0.1, 1, 10, 100):
        for step in range(1, 10):
            if LEAST_MS <= decade * step <= MOST_MS:
                kind, y = "grid" if step == 1 else "faint", up(decade * step)
                yield f'<line class="{kind}" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
                if step == 1:
                    yield f'<text class="quiet" x="{LEFT - 10}" y="{y + 6:.1f}" text-anchor="end">{decade:g}</text>'
    for share in SHARES:
        x = across(1 - share / 100)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'
        yield f'<text class="quiet" x="{x:.1f}" y="{bottom + 24}" text-anchor="middle">{share:g} %</text>'
    yield f'<text class="quiet" x="{LEFT - 10}" y="{TOP - 10}" text-anchor="end">ms</text>'
    middle = (LEFT + right) / 2
    yield f'<text class="quiet" x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">of the answers are faster</text>'


def line(kind, tail):
    steps = len(tail) - 1
    points = (f"{across(0.5 * 0.002 ** (at / steps)):.1f} {up(value):.1f}" for at, value in enumerate(tail))
    return f'<path class="{kind}" d="M {" L ".join(points)}"/>'


def labels(tails):
    """A name and the p99 beside the end of each line, moved apart where lines end together."""
    y = TOP - LABEL
    for kind, (name, tail) in sorted(zip("abc", tails.items()), key=lambda entry: -entry[1][1][-1]):
        y, x = max(up(tail[-1]), y + LABEL), WIDTH - RIGHT + 12
        # The step of pace.c's list that is nearest to p99.
        p99 = tail[round((len(tail) - 1) * math.log(0.02) / math.log(0.002))]
        yield f'<text class="name {kind}" x="{x}" y="{y:.1f}">{NAMES[name]}</text>'
        yield f'<text class="quiet" x="{x}" y="{y + 18:.1f}">p99 {p99:.2f} ms</text>'


def draw(rate, tails):
    """Writes the picture of the tails: for each name the latencies that pace.c lists."""
    path = (FOLDER if TINY else ROOT / "var/figures") / "tail.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    title = f"Time to the answer at half load, {rate:,} events a second"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" role="img">', f"<title>{title}</title>", f"<style>{STYLE}\n</style>",
             f'<rect class="back" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
             f'<text class="title" x="{LEFT}" y="30">{title}</text>',
             *grid(), *(line(kind, tail) for kind, tail in zip("abc", tails.values())), *labels(tails), "</svg>"]
    path.write_text("\n".join(parts) + "\n")
