"""What an operator reads: commands that only read, and pages of the dashboard, on a big and a small database."""

import http.client, json

from measure import table
from measure.programs import listed, receiptctl
from measure.settings import fail

LIMIT = 50  # milliseconds on the big database, with the start of the program
PART = 8  # characters at the end of an id


class Subject:
    """Things in a database that commands and pages are asked about."""

    def __init__(self, config, apps):
        self.config, self.apps = config, apps
        newest = listed(config, "receipts", "list", "--state", "delivered", "--limit", "1")[0]
        shown = json.loads(receiptctl(config, "receipts", "show", newest["id"], "--json"))
        self.receipt, self.user, self.object = newest["id"], newest["user_id"], newest["object_id"]
        self.imported, self.customer = newest["import_id"], shown.get("customer_id")
        self.event = listed(config, "events", "list", "--limit", "1")[0]["id"]
        self.context = (listed(config, "contexts", "list", "--limit", "1") or [{"id": "ctx_none"}])[0]["id"]

    def commands(self):
        """The words of each command, by what it is called in the table."""
        ids = {"receipt": self.receipt, "object": self.object, "user": self.user, "import id": self.imported,
               "event": self.event, "customer": self.customer}
        finds = {f"find {kind}": ["find", text] for kind, text in ids.items() if text}
        finds |= {"find part": ["find", self.object[-PART:]], "find address": ["find", "nobody@example.com"]}
        return finds | {
            "receipts list --customer": ["receipts", "list", "--customer", self.customer or "cus_none"],
            "receipts list --status": ["receipts", "list", "--state", "failed", "--status", "4xx"],
            "receipts list --price": ["receipts", "list", "--price", "price_none"],
            "receipts replay --dry-run": ["receipts", "replay", "--state", "failed", "--dry-run"],
            "failures list": ["failures", "list"],
            "events list": ["events", "list"],
            "events list --since": ["events", "list", "--since", "3d"],
            "events list --until": ["events", "list", "--until", "10d"],
            "events show": ["events", "show", self.event],
            "contexts list": ["contexts", "list"],
            "contexts list --user": ["contexts", "list", "--user", self.user],
            "users show": ["users", "show", self.user],
            "payments list": ["payments", "list"],
            "jobs list": ["jobs", "list"],
            "apps list": ["apps", "list"],
            "alerts list": ["alerts", "list"],
            "audit list": ["audit", "list"],
            "stats": ["stats"],
            "stats --app": ["stats", "--app", self.apps[1]],
        }

    def pages(self):
        """Paths of the dashboard."""
        app = self.apps[1]
        return ["/", f"/apps/{app}", "/receipts", "/receipts?state=failed", f"/receipts?app={app}&since=10d",
                f"/receipts/{self.receipt}", "/failed", "/events", f"/events?app={app}", f"/event?id={self.event}",
                "/jobs", "/audit"]


def commands(timer, size, subject):
    for what, words in subject.commands().items():
        timer.ask(what, size, lambda: receiptctl(subject.config, *words, "--json", ended=(0, 3, 66)))


def pages(timer, size, subject, relay):
    """Each page on one connection, as a browser has it."""
    connection = http.client.HTTPConnection("127.0.0.1", relay.admin, timeout=60)
    for path in subject.pages():
        def get():
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        name = path.replace(subject.receipt, "{id}").replace(subject.event, "{id}")
        status, body = timer.ask(f"page {name}", size, get)
        if status != 200 or b"<h1" not in body:
            fail(f"GET {path} gave {status}: {body[:300]}")
    connection.close()


def rows(timer):
    """The slowest of all, which has the goal; the notes have the others."""
    ours = {what: table.middle(times["big"]) for what, times in timer.times.items()}
    slowest = max(ours, key=ours.get)
    return [table.bounded(f"an operator reads: {slowest} (slowest)", ours[slowest], LIMIT, "{:,.1f} ms")]


def notes(timer):
    middle = table.middle
    return [f"  {what}: {middle(times['big']):,.1f} ms, {middle(times['small']):,.1f} ms"
            for what, times in timer.times.items()]
