"""localstripe (https://github.com/adrienverge/localstripe), which simulates Stripe's accounts, in a thread of this process."""

import asyncio, collections, logging, threading

from aiohttp import web
from localstripe import resources, server

from harness import free_port, listens, wait_for

TYPES = ("customer.subscription.", "invoice.payment_")
# It would keep its state in one file for all of this machine's users.
resources.store.dump_to_disk = lambda: None
_list_all, _make_invoice = resources.Event._api_list_all, resources.Invoice.__init__


def _list_events(url, types=None, **others):
    """What Stripe's list of events has and localstripe's lacks: a choice of types, and the newest first
    (https://docs.stripe.com/api/events/list)."""
    found = _list_all(url, **others)
    found._list = [event for event in reversed(found._list) if not types or event.type in types]
    return found


def _make_first_invoice(invoice, **values):
    """What it lacks, too: the reason of an invoice (https://docs.stripe.com/api/invoices/object). Here each is the first."""
    _make_invoice(invoice, **values)
    invoice.billing_reason = "subscription_create"


resources.Event._api_list_all, resources.Invoice.__init__ = _list_events, _make_first_invoice


class LocalStripe(logging.Handler):
    """Counts the webhooks about subscriptions by type: those sent, and those answered with 2xx. localstripe only logs them,
    and never sends one again."""

    def __init__(self):
        super().__init__()
        self.port = free_port()
        self.clear()
        self.url = f"http://127.0.0.1:{self.port}"
        self.loop, self.ended = asyncio.new_event_loop(), asyncio.Event()
        logger = logging.getLogger("aiohttp.access")
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self._serve(),), daemon=True)
        self.thread.start()
        wait_for("localstripe listens", lambda: listens(self.port))

    async def _serve(self):
        runner = web.AppRunner(server.app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        await self.ended.wait()
        await runner.cleanup()

    def clear(self):
        self.sent, self.acknowledged = collections.Counter(), collections.Counter()
        resources.store.clear()

    def emit(self, record):
        words = record.getMessage().split('"')
        if words[0] == "webhook " and words[1].startswith(TYPES):
            self.sent[words[1]] += 1
            self.acknowledged[words[1]] += "successfully" in words[2]

    def wait_for_webhooks(self):
        """Until each event was sent, which localstripe does a second later."""
        events = [value for key, value in list(resources.store.items()) if key.startswith("event:")]
        made = sum(event.type.startswith(TYPES) for event in events)
        wait_for("localstripe has sent its webhooks", lambda: self.sent.total() == made)

    def close(self):
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join(10)
        logging.getLogger("aiohttp.access").removeHandler(self)
