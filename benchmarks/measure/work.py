"""What a request costs receiptd: statements, pages of the log, bytes on the disk, and CPU time by thread."""

import http.client, pathlib

from measure import table

LOG_HEADER = 24  # bytes before each page in the log (https://www.sqlite.org/fileformat2.html#the_write_ahead_log)
PAGE = 4096


def threads(process):
    """Nanoseconds of CPU time of each thread so far, by name; threads of one name are added up."""
    found = {}
    for folder in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        name = (folder / "comm").read_text().strip()
        found[name] = found.get(name, 0) + int((folder / "schedstat").read_text().split()[0])
    return found


def counters(process):
    """receiptd's metrics without labels."""
    connection = http.client.HTTPConnection("127.0.0.1", process.admin, timeout=60)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[:1] != "#")}


class Work:
    """The work of receiptd between the making of this and `end`."""

    def __init__(self, relay):
        self.relay, self.threads, self.counters = relay, threads(relay), counters(relay)

    def end(self, requests):
        now, counted = threads(self.relay), counters(self.relay)
        self.cpu_us = {name: (now[name] - self.threads.get(name, 0)) / 1e3 / requests for name in now}
        self.statements, self.pages, self.commits = (
            (counted.get(name, 0) - self.counters.get(name, 0)) / requests
            for name in ("receiptd_commit_statements_total", "receiptd_commit_pages_total",
                         "receiptd_commit_batch_count"))
        self.requests = requests


def lines(kind, found):
    """What is printed below the table: medians of the rounds."""
    def middle(value):
        return table.middle(value(work) for work in found)
    pages = middle(lambda work: work.pages)
    names = {name for work in found for name in work.cpu_us}
    each = {name: middle(lambda work: work.cpu_us.get(name, 0)) for name in names}
    busy = sorted((name for name in each if each[name] >= 0.05), key=each.get, reverse=True)
    one = kind[:-1]
    return [f"{kind}: {pages:.2f} pages and {pages * (PAGE + LOG_HEADER):,.0f} bytes of log for each {one}, "
            f"{middle(lambda work: work.statements):.2f} statements, "
            f"{middle(lambda work: 1 / work.commits if work.commits else 0):.1f} {kind} in a commit",
            f"{kind}: CPU of each {one} by thread, µs: " + ", ".join(f"{name} {each[name]:.1f}" for name in busy)]


def written_row(kind, found, bound):
    """Bytes that reach the disk for each request, from start to clean end."""
    kib = table.middle(work.relay.written / work.requests / 1024 for work in found)
    return table.bounded(f"  written to disk for each of the {kind}", kib, bound, "{:.2f} KiB")
