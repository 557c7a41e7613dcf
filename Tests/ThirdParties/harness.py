"""Runs receiptd for checks against software of third parties, and receives what it sends. Everything stays on
127.0.0.1. The programs are $RECEIPTD and $RECEIPTCTL, with receipt-sandbox beside it, or those of the release build."""

import base64, collections, contextlib, hmac, http.client, json, os, pathlib, random, signal, socket, subprocess
import threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RECEIPTD = os.environ.get("RECEIPTD", REPOSITORY / ".build/release/receiptd")
RECEIPTCTL = os.environ.get("RECEIPTCTL", REPOSITORY / ".build/release/receiptctl")
RECEIPT_SANDBOX = pathlib.Path(RECEIPTCTL).with_name("receipt-sandbox")
SEED = 20261128
APP = "shop"
CLIENT_KEY = "client-key-of-the-checks"
STRIPE_SECRET = "whsec_of_the_checks_0123456789abcdef"


def free_port():
    """A port that the kernel does not give to outgoing connections, so it stays free while receiptd is down."""
    for port in random.SystemRandom().sample(range(15000, 32000), 100):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def wait_for(what, condition, seconds=20):
    """The first value of `condition` that is true."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.03)
    return value


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def blob(price, **more):
    """A ply_context as the Purchasely SDK makes it."""
    return base64.b64encode(json.dumps({"stripe_price_id": price, **more}).encode()).decode()


def sign(body, secret=STRIPE_SECRET, moment=None):
    """A Stripe-Signature of these bytes."""
    moment = int(time.time()) if moment is None else moment
    return f"t={moment},v1=" + hmac.new(secret.encode(), b"%d." % moment + body, "sha256").hexdigest()


def payment(number, context):
    """The event of a paid subscription, whose checkout page was given this context's id."""
    session = {"id": f"cs_{number}", "object": "checkout.session", "mode": "subscription", "payment_status": "paid",
               "status": "complete", "client_reference_id": context, "subscription": f"sub_{number}"}
    return json.dumps({"id": f"evt_{number}", "object": "event", "type": "checkout.session.completed", "livemode": False,
                       "created": int(time.time()), "data": {"object": session}})


def merge(base, over):
    """The object `base` with the members of `over`, at any depth."""
    both = isinstance(base, dict) and isinstance(over, dict)
    return {key: merge(base.get(key), over[key]) if key in over else base[key] for key in {**base, **over}} if both else over


Arrival = collections.namedtuple("Arrival", "path headers body status")


class Receiver:
    """Stands in for a destination: keeps each request, and answers with the next status of `script`, then with 200. A GET
    gets `page`."""

    def __init__(self):
        self.arrivals, self.script, self.page, receiver = [], [], "", self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.script.pop(0) if receiver.script else 200
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.arrivals.append(Arrival(self.path, headers, body, status))
                number = len(receiver.arrivals)
                self.answer(status, json.dumps({"id": f"import-{number}"} if status == 200 else {"errors": ["scripted"]}))

            def do_GET(self):
                self.answer(200, receiver.page)

            def answer(self, status, answer):
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a receiptd that was killed

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/receipts"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def bodies(self):
        return [json.loads(arrival.body) for arrival in list(self.arrivals)]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@contextlib.contextmanager
def running(words, log, port):
    """A program that listens on `port`, ended afterwards."""
    with open(log, "ab") as output:
        process = subprocess.Popen([str(word) for word in words], stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    try:
        wait_for(f"{words[0]} listens, see {log}", lambda: process.poll() is not None or listens(port))
        assert process.poll() is None, f"{words[0]} ended with {process.returncode}:\n{log.read_text()[-4000:]}"
        yield process
    finally:
        process.terminate()
        process.wait(20)


class Relay:
    """One receiptd, its configuration and its database in `folder`."""

    def __init__(self, folder, receiver, app=None, **top):
        self.log, self.path = folder / "receiptd.log", folder / "receiptd.json5"
        self.port, self.admin, self.process = free_port(), free_port(), None
        shop = {
            "client": {"keys": [CLIENT_KEY]}, "stripe": {"webhook_secrets": [STRIPE_SECRET], "reference": "user"},
            "purchasely": {"url": receiver.url, "api_key": "api-key-of-the-checks"},
            "join": {"settle": "200ms", "wait_for_context": "2s"},
            "delivery": {"retry": {"schedule": ["100ms", "200ms", "500ms"]}},
        }
        self.path.write_text(json.dumps(merge({
            "listen": {"port": self.port}, "admin": {"port": self.admin}, "database": str(folder / "receiptd.db"),
            "limits": {"contexts_per_user": "off", "contexts_per_address": "off"},
            "apps": {APP: merge(shop, app or {})}}, top)))
        self.path.chmod(0o600)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([RECEIPTD, "--config", self.path], stdout=log, stderr=log)
        wait_for("receiptd is ready", lambda: self.process.poll() is not None or self.is_ready())
        if (code := self.process.poll()) is not None:
            self.process = None
            raise AssertionError(f"receiptd ended with {code}:\n{self.tail()}")
        return self

    def is_ready(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/readyz", port=self.admin).status == 200
        return False

    def stop(self, number=signal.SIGTERM):
        """Ends it. A receiptd that crashed or was asked to end and did not end well fails the check."""
        if self.process is None:
            return
        self.process.send_signal(number)
        code, self.process = self.process.wait(20), None
        assert code == (0 if number == signal.SIGTERM else -number), f"receiptd ended with {code}:\n{self.tail()}"

    def tail(self):
        return self.log.read_text(errors="replace")[-4000:]

    def ask(self, method, path, body=None, headers=None, port=None):
        """One request on its own connection. The answer has `body` added."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=40)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            answer.text = answer.read().decode()
            return answer
        finally:
            connection.close()

    def post_context(self, user, price, headers=None):
        """Stores a context of this user. The answer has `blob` added."""
        text = blob(price, user=user)
        answer = self.ask("POST", f"/v1/{APP}/contexts", json.dumps({"ply_context": text, "user_id": user}), {
            "Content-Type": "application/json", **(headers or {"X-API-KEY": CLIENT_KEY})})
        answer.blob = text
        return answer

    def post_event(self, body, signature):
        return self.ask("POST", f"/v1/{APP}/webhooks/stripe", body, {
            "Content-Type": "application/json; charset=utf-8", "Stripe-Signature": signature})

    def ctl(self, *words):
        """The objects that receiptctl prints."""
        run = subprocess.run([RECEIPTCTL, "--config", self.path, *words, "--json"], capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, f"receiptctl {' '.join(words)} ended with {run.returncode}: {run.stderr}"
        return [json.loads(line) for line in run.stdout.splitlines()]

    def receipts(self, state=None):
        found = self.ctl("receipts", "list", "--limit", "1000")
        return [receipt for receipt in found if state in (None, receipt["state"])]
