"""Many status requests with `?wait=` at once, each for another context: all are held, some are answered when their
checkout is paid, all others when their time is up."""

import json, pathlib, resource, subprocess, time

import workload
from measure import table
from measure.programs import FAST, app, bare, listed, memory, pace, receiptd
from measure.settings import FOLDER, POLLS, WAIT, fail, say

ADDRESSES, RATE, SPARE_FILES = 8, 2000, 500


def open_files(wanted):
    """As many open files as this process may have, for it and those that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted, hard),) * 2)
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def sockets(process):
    return len(list(pathlib.Path(f"/proc/{process.pid}/fd").iterdir()))


def contexts(relay, count):
    """The ids and users of all contexts."""
    found, words = {}, ["contexts", "list", "--limit", "1000"]
    after = []
    while page := listed(relay.config, *words, *after):
        found |= {context["id"]: context["user_id"] for context in page}
        after = ["--after", page[-1]["id"]]
    if len(found) != count:
        fail(f"{count} contexts were posted, and {len(found)} are listed")
    return found


def pay(relay, users, rate=1000):
    """Events of checkouts by these users."""
    workload.write_events(FOLDER, "paid", len(users), small=workload.small_session(carries_context=False), users=users)
    return pace("paid", relay, rate, len(users), connections=8)


def hold(relay, ids, paid):
    """Opens the polls. Gives the memory that they take, in bytes each, and what polls.c counted."""
    (FOLDER / "ids").write_text("\n".join(ids) + "\n")
    time.sleep(1)
    before, files = memory(relay, "VmRSS"), sockets(relay)
    path = f"/v1/{workload.APP}/contexts/"
    process = subprocess.Popen([FOLDER / "polls", str(relay.port), path, FOLDER / "ids", str(WAIT), str(ADDRESSES)],
                               stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "held\n":
            fail("not all polls could be opened")
        time.sleep(2)
        if sockets(relay) - files < len(ids):
            fail(f"receiptd holds {sockets(relay) - files} connections of {len(ids)}")
        taken = (memory(relay, "VmRSS") - before) * 1024 / len(ids)
        pay(relay, paid)
        output, _ = process.communicate(timeout=WAIT + 60)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        fail("not all polls were answered")
    return taken, json.loads(output)


def polls(notes):
    files = open_files(POLLS + SPARE_FILES)
    count = min(POLLS, files - SPARE_FILES)
    if count < POLLS:
        notes.append(f"polls: {count:,} instead of {POLLS:,}, "
                     f"for a process may have no more than {files:,} files open here")
    workload.write_contexts(FOLDER, "polled", count)
    limits = {"connections": count + 200, "connections_per_address": count + 200, "webhook_connections": 100,
              "long_polls": count}
    # These checkouts name a user and no context: before a context is guessed, they would wait `settle` for the price.
    join = {"settle": "1ms"}
    with (bare() as destination,
          receiptd({workload.APP: app(destination.port, **FAST, join=join)}, limits=limits) as relay):
        pace("polled", relay, RATE, count)
        found = contexts(relay, count)
        paid = [user.encode() for user in list(found.values())[::20]]
        taken, result = hold(relay, found, paid)
    say(f"polls: {taken / 1024:.2f} KiB each; {result}")
    if (result["delivered"], result["open"]) != (len(paid), count - len(paid)):
        fail(f"{len(paid)} of {count} polls were to say delivered, all others open: {result}")
    first_end = WAIT - result["opening_s"]  # of the first poll, since all were sent
    if result["open_first_s"] < first_end - 1 or result["delivered_last_s"] > first_end:
        fail(f"polls were answered too early or too late: {result}")
    notes.append(f"polls: opened in {result['opening_s']:.1f} s; "
                 f"{len(paid):,} were paid while they waited, and the last of these was answered "
                 f"{result['delivered_last_s']:.1f} s after all were sent; the last of the others after "
                 f"{result['open_last_s']:.1f} s (wait={WAIT})")
    return [table.bounded(f"memory of a poll, {count:,} at once", taken / 1024, 12, "{:.1f} KiB")]
