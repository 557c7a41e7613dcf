"""Sizes and paths, and the description of the machine."""

import os, pathlib, platform, re, shutil, signal, sqlite3, statistics, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "benchmarks"
BIN = pathlib.Path(os.environ.get("BIN", ROOT / ".build/release"))
# Emptied at the start, removed at the end.
FOLDER = pathlib.Path(os.environ.get("BENCH_FOLDER", ROOT / "var")) / "bench"


# TINY=1: every row with very little data and without goals. It shows that the benchmarks work; its figures mean nothing.
TINY = os.environ.get("TINY") == "1"


def number(name, default, tiny):
    return int(os.environ.get(name, tiny if TINY else default))


ROUNDS = number("ROUNDS", 5, 1)
SECONDS = number("SECONDS_EACH", 10, 1)
RATE_MAX = number("RATE_MAX", 60000, 60000)  # new requests prepared for each second
RECEIPTS = number("RECEIPTS", 100_000, 500)
ROWS = number("ROWS", 5_000_000, 10_000)
# LONG=1: the big database is loaded for ten minutes without a pause, instead of for a few seconds in each round.
LONG_SECONDS = number("LONG_SECONDS", 600, 2) if os.environ.get("LONG") == "1" else 0
POLLS = number("POLLS", 20_000, 200)
APPS = number("APPS", 100, 4)
WAIT = number("WAIT", 30, 6)  # seconds that a poll waits at most
IDLE_SECONDS = number("IDLE_SECONDS", 20, 2)
REST_SECONDS = number("REST_SECONDS", 5, 1)  # until memory after a load counts as that at rest
STARTS = number("STARTS", 20, 3)
SINGLES = number("SINGLES", 100, 20)  # events of the row `delay`, in each round
CONNECTIONS = 64
LIBRARIES = {"server": ["-lmicrohttpd", "-lsqlite3", "-lcrypto"], "pace": []}


def say(text):
    print(text, flush=True)


def fail(text):
    sys.exit(f"{sys.argv[0]}: {text}")


def end_cleanly(main, *words):
    """Runs a script from the repository's top folder, with an empty folder of its own that is removed however it ends."""
    os.chdir(ROOT)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main(*words)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


def compile_programs():
    for name, libraries in LIBRARIES.items():
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", FOLDER / name, SOURCES / f"{name}.c",
                        *libraries], check=True)


def sync_milliseconds():
    """How long this disk takes to sync 4 KiB more of a file: median of 200."""
    path, times = FOLDER / "sync", []
    with open(path, "wb", buffering=0) as file:
        for _ in range(200):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    path.unlink()
    return statistics.median(times)


def stolen():
    """CPU time so far, in ticks: the time that the host of a virtual machine gave to others, and the total (proc(5))."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return ticks[7], sum(ticks)


def machine():
    """The machine and the libraries, one line each."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"(?:model name|CPU part)\s*:\s*(.*)", info)
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) >> 20
    versions = [f"{name} {version(package)}" for name, package in
                (("libmicrohttpd", "libmicrohttpd"), ("libcurl", "libcurl"), ("SQLite", "sqlite3"),
                 ("OpenSSL", "libcrypto"))]
    name = model[1] if model else platform.machine()
    kernel = ".".join(platform.release().split(".")[:2])
    return [f"{name}, {os.cpu_count()} CPUs, {memory} GiB, Linux {kernel}", ", ".join(versions)]


def version(package):
    found = subprocess.run(["pkg-config", "--modversion", package], capture_output=True, text=True)
    return found.stdout.strip() or (sqlite3.sqlite_version if package == "sqlite3" else "?")
