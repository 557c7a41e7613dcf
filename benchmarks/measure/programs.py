"""Runs receiptd, the yardsticks and the load generators, and measures their processes."""

import contextlib, json, os, pathlib, re, shutil, subprocess, time

import workload
from measure.settings import BIN, CONNECTIONS, FOLDER, RATE_MAX, SECONDS, SOURCES, fail


@contextlib.contextmanager
def server(*words):
    """A yardstick of server.c, which serves until its stdin is closed. Gives its process, with `port` added."""
    process = subprocess.Popen([FOLDER / "server", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               start_new_session=True)  # Ctrl-C is for us; we end what we started
    try:
        line = process.stdout.readline()
        if not line:
            fail(f"server {words} did not start")
        process.port = int(line)
        yield process
    finally:
        process.stdin.close()
        if process.wait(60) != 0:
            fail(f"server {words} ended with {process.returncode}")
        process.stdout.close()


def bare(kept=None):
    """The yardstick without a database, or a destination for receipts that keeps what arrives in the file `kept`."""
    return server(*(["keep", kept] if kept else []))


@contextlib.contextmanager
def append():
    """The yardstick that stores requests, in a new database. Gives its process, with `port` and `database` added."""
    database = FOLDER / "appended.db"
    for ending in "", "-wal", "-shm":
        pathlib.Path(f"{database}{ending}").unlink(missing_ok=True)
    with server("append", database) as process:
        process.database = database
        yield process


def arrived(destination):
    """How many bodies a destination has kept so far."""
    destination.stdin.write("\n")
    destination.stdin.flush()
    return int(destination.stdout.readline())


def wait_for_arrivals(destination, count, seconds):
    end, last, found = time.monotonic() + seconds, -1, 0
    while (found := arrived(destination)) < count:
        if found != last:
            last, end = found, time.monotonic() + seconds
        elif time.monotonic() > end:
            fail(f"only {found} of {count} receipts arrived; nothing more came in {seconds} s")
        time.sleep(0.05)


def arrivals(kept):
    """The arrivals: time in nanoseconds and body, in the order of time."""
    with open(kept, "rb") as lines:
        return sorted((int(moment), body.rstrip(b"\n")) for moment, body in (line.split(b" ", 1) for line in lines))


def object_of(body):
    return re.search(rb'"stripe_object_id" ?: ?"([^"]*)"', body)[1].decode()


def app(destination, **more):
    """An app with all defaults except `tolerance`, so that the prepared signatures are valid, and the destination."""
    url = destination if isinstance(destination, str) else f"http://127.0.0.1:{destination}/receipts"
    return {"client": {"keys": [workload.CLIENT_KEY]},
            "stripe": {"webhook_secrets": [workload.WEBHOOK_SECRET], "tolerance": "24h", "reference": "user"},
            "purchasely": {"url": url, "api_key": "benchmark"}, **more}


FAST = {"delivery": {"concurrency": CONNECTIONS, "rate": 100_000}}


def configure(folder, apps, **more):
    """Writes the configuration; a number in place of the apps is the port of the one app's destination."""
    if isinstance(apps, int):
        apps = {workload.APP: app(apps)}
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "receiptd.json5"
    path.write_text(json.dumps({"listen": {"port": 0}, "admin": {"port": 0}, "database": "receiptd.db",
                                "apps": apps, **more}))
    path.chmod(0o600)
    return path


peaks = {}  # receiptd's highest memory in KiB under each row's load


@contextlib.contextmanager
def receiptd(apps, folder=None, row=None, **more):
    """receiptd, on an empty database unless a folder with one is given. Gives its process, with `port`, `admin`,
    `database` and `config` added."""
    if folder is None:
        folder = FOLDER / "receiptd"
        shutil.rmtree(folder, ignore_errors=True)
    config, log = configure(folder, apps, **more), folder / "receiptd.log"
    with open(log, "wb") as stderr:
        process = subprocess.Popen([BIN / "receiptd", "--config", config], stderr=stderr,
                                   start_new_session=True)
    try:
        process.port, process.admin = ports_in(log, process)
        process.config, process.database = config, folder / "receiptd.db"
        yield process
        if row:
            peaks[row] = max(peaks.get(row, 0), memory(process, "VmHWM"))
    finally:
        process.terminate()
        read_written_bytes(process)
        if process.wait(60) != 0:
            fail(f"receiptd ended with {process.returncode}:\n{essence(log)}")


def read_written_bytes(process):
    """Adds `written` to a process that ends: the bytes that it wrote to the disk in its whole life (proc(5))."""
    process.written, end = 0, time.monotonic() + 60
    # Until it is waited for, the kernel keeps its counts.
    while process.returncode is None and time.monotonic() < end:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            text = pathlib.Path(f"/proc/{process.pid}/io").read_text()
            process.written = int(re.search(r"\nwrite_bytes: (\d+)", text)[1])
            return
        time.sleep(0.005)


def essence(log):
    """Of a log, how a crash begins, or the end."""
    text = log.read_text(errors="replace")
    found = re.search(r"(?m)^.*(Fatal error|Crash|crashed)", text)
    return text[found.start():][:3000] if found else text[-2000:]


def ports_in(log, process):
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r" ready .*listen=(\d+) admin=(\d+)", log.read_text())
        if found:
            return int(found[1]), int(found[2])
        time.sleep(0.005)
    fail(f"receiptd did not start:\n{essence(log)}")


def memory(process, field):
    """`VmRSS` or `VmHWM` in KiB."""
    return int(re.search(field + r":\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def switches(process):
    """Context switches of all threads so far: each wake-up ends with one."""
    text = "".join(path.read_text() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/status"))
    return sum(int(count) for count in re.findall(r"voluntary_ctxt_switches:\s+(\d+)", text))


def wrk(records, server, seconds=SECONDS, first=0, rate_max=RATE_MAX, connections=CONNECTIONS):
    """Sends requests as fast as they are answered. The CPU time is the server's alone, and says more than the rate
    when the machine is busy."""
    began = cpu_seconds(server)
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", SOURCES / "load.lua",
         f"http://127.0.0.1:{server.port}", "--", FOLDER, records, str(first), str(seconds * rate_max)],
        capture_output=True, text=True, timeout=seconds + 60)
    found = re.search("@RESULT@(.*)", done.stdout)
    if done.returncode or not found:
        fail(f"wrk failed: {done.stdout}{done.stderr}")
    result = json.loads(found[1])
    if result["refused"] or result["broken"] or not result["answers"]:
        fail(f"not every request was answered with 2xx, so this measured nothing: {result}")
    result["cpu_us"] = (cpu_seconds(server) - began) * 1e6 / result["answers"]
    result["rate"] = result["answers"] / result["seconds"]
    return result


def pace(records, server, rate, count, first=0, connections=CONNECTIONS, times=None):
    """Sends requests by a schedule, whatever the answers do."""
    words = [FOLDER / "pace", server.port, FOLDER, records, rate, count, connections, first]
    words += [times] if times else []
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=count / rate + 120)
    if done.returncode:
        fail(f"pace failed: {done.stderr}")
    result = json.loads(done.stdout)
    if result["refused"] or result["answers"] != count:
        fail(f"not every request was answered with 2xx, so this measured nothing: {result}")
    return result


def receiptctl(config, *words, ended=(0,)):
    """What a command prints; `ended` has the exit codes that are right."""
    done = subprocess.run([BIN / "receiptctl", "--config", config, *words], capture_output=True, text=True,
                          timeout=600)
    if done.returncode not in ended:
        fail(f"receiptctl {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def listed(config, *words):
    return [json.loads(line) for line in receiptctl(config, *words, "--json").splitlines()]
