"""The table: each row with this project's figure, the limit's, the ratio and the goal."""

import dataclasses, statistics

from measure.settings import ROOT, TINY, say

FIGURES = ROOT / "var/figures/bench.md"


@dataclasses.dataclass
class Row:
    what: str
    ours: str
    limit: str
    ratio: float | None
    goal: str
    reached: bool


def middle(values):
    return statistics.median(values)


def at_least(what, ours, limit, goal, text="{:,.0f}/s"):
    """More is better: the goal is a share of the limit. None for a row that only informs."""
    ratio = ours / limit
    if goal is None:
        return Row(what, text.format(ours), text.format(limit), ratio, "", True)
    return Row(what, text.format(ours), text.format(limit), ratio, f"≥ {goal:.2f}", ratio >= goal)


def at_most(what, ours, limit, goal, text="{:,.1f} ms", limit_text=None):
    """Less is better: the goal is a multiple of the limit, which may have been named already."""
    ratio = ours / limit if limit else None
    return Row(what, text.format(ours), limit_text or text.format(limit), ratio, f"≤ {goal:.2f}",
               ratio is not None and ratio <= goal)


def bounded(what, ours, bound, text):
    """Less is better: the goal is a fixed figure."""
    return Row(what, text.format(ours), "", None, "≤ " + text.format(bound), ours <= bound)


def show(rows):
    cells = [["", "receiptd", "limit", "ratio", "goal", ""]]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        goal = ["", ""] if TINY or not row.goal else [row.goal, "yes" if row.reached else "NO"]
        cells.append([row.what, row.ours, row.limit, ratio, *goal])
    widths = [max(len(row[column]) for row in cells) for column in range(6)]
    for row in cells:
        say("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(row, widths))).rstrip())


def write(rows, lines):
    """The table and what is below it as docs/figures.md has them (deploy/dev/figures)."""
    goals = [row for row in rows if row.goal]
    text = [f"`make bench`; {sum(row.reached for row in goals)} of {len(goals)} goals are met:", "",
            "| what | receiptd | limit | ratio | goal | |", "|---|---|---|---|---|---|"]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        text.append(f"| {row.what.strip()} | {row.ours} | {row.limit} | {ratio} | {row.goal} | "
                    f"{('met' if row.reached else 'missed') if row.goal else ''} |")
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text("\n".join(text + ["", "```text"] + lines + ["```"]) + "\n")
