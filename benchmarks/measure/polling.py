"""Many status requests with `?wait=` at once, each for another context: all are held, some are answered when their
checkout is paid, all others when their time is up."""

import pathlib, resource, selectors, socket, threading, time

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


class Polls:
    """Asks for the state of each context on its own connection, with `?wait=`, and holds them all. From several
    addresses, so that neither ports nor a limit for each address run out. Times are in seconds since all were sent."""

    def __init__(self, port, ids):
        self.answers, self.times = {"open": 0, "delivered": 0, "other": 0}, {}
        self.selector, began = selectors.DefaultSelector(), time.monotonic()
        for number, name in enumerate(ids):
            connection = socket.create_connection(("127.0.0.1", port), 60, (f"127.0.0.{2 + number % ADDRESSES}", 0))
            connection.sendall(f"GET /v1/{workload.APP}/contexts/{name}?wait={WAIT} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                               "Connection: close\r\n\r\n".encode())
            self.selector.register(connection, selectors.EVENT_READ, name)
        self.sent = time.monotonic()
        self.opening = self.sent - began

    def collect(self):
        """Reads until each has its answer."""
        while self.selector.get_map():
            found = self.selector.select(WAIT + 60)
            if not found:
                fail("not all polls were answered")
            for key, _ in found:
                text = b"".join(iter(lambda: key.fileobj.recv(4096), b"")).decode()
                states = [state for state in ("open", "delivered") if f'"state":"{state}"' in text]
                is_ours = text.startswith("HTTP/1.1 200") and key.data in text and states
                state = states[0] if is_ours else "other"
                now = time.monotonic() - self.sent
                self.answers[state] += 1
                self.times[state] = (self.times.get(state, (now,))[0], now)
                self.selector.unregister(key.fileobj)
                key.fileobj.close()


def hold(relay, ids, paid):
    """Opens the polls. Gives the memory that they take, in bytes each, and the polls with their answers."""
    time.sleep(1)
    before, files = memory(relay, "VmRSS"), sockets(relay)
    polls = Polls(relay.port, ids)
    time.sleep(2)
    if sockets(relay) - files < len(ids):
        fail(f"receiptd holds {sockets(relay) - files} connections of {len(ids)}")
    taken = (memory(relay, "VmRSS") - before) * 1024 / len(ids)
    paying = threading.Thread(target=pay, args=(relay, paid))
    paying.start()
    polls.collect()
    paying.join()
    return taken, polls


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
    say(f"polls: {taken / 1024:.2f} KiB each; {result.answers}, {result.times}")
    if result.answers != {"open": count - len(paid), "delivered": len(paid), "other": 0}:
        fail(f"{len(paid)} of {count} polls were to say delivered, all others open: {result.answers}")
    first_end = WAIT - result.opening  # of the first poll, since all were sent
    (first_open, last_open), (_, last_delivered) = result.times["open"], result.times["delivered"]
    if first_open < first_end - 1 or last_delivered > first_end:
        fail(f"polls were answered too early or too late: {result.times}")
    notes.append(f"polls: opened in {result.opening:.1f} s; {len(paid):,} were paid while they waited, and the last of "
                 f"these was answered {last_delivered:.1f} s after all were sent; the last of the others after "
                 f"{last_open:.1f} s (wait={WAIT})")
    return [table.bounded(f"memory of a poll, {count:,} at once", taken / 1024, 12, "{:.1f} KiB")]
