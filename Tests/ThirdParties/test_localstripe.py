"""Subscriptions that are bought with the official library of Stripe at localstripe, which sends the webhooks and answers
receiptd's lookups."""

import collections, random, signal, time

import pytest, requests, stripe

from harness import APP, SEED, STRIPE_SECRET, wait_for
from local_stripe import LocalStripe

PRICES = ["price_monthly", "price_yearly"]
KILLS = 5
CARDS = {"paid": "4242424242424242", "declined": "4000000000000341", "confirmed": "4000002500003155"}


@pytest.fixture(scope="module")
def local_stripe():
    local = LocalStripe()
    local.client = stripe.StripeClient("sk_test_of_the_checks", base_addresses={"api": local.url}).v1
    yield local
    local.close()


@pytest.fixture
def account(local_stripe):
    """An account that has only its prices."""
    local_stripe.clear()
    product = local_stripe.client.products.create({"name": "Premium", "type": "service"})
    for price in PRICES:
        local_stripe.client.plans.create({
            "id": price, "product": product.id, "amount": 990, "currency": "eur", "interval": "month"})
    return local_stripe


@pytest.fixture
def shop(relay, account):
    """A relay that is the account's only webhook endpoint, and looks up at it what an event leaves out."""
    shop = relay({"stripe": {"api_key": "sk_test_of_the_checks", "api_base": account.url}})
    hook = {"url": f"http://127.0.0.1:{shop.port}/v1/{APP}/webhooks/stripe", "secret": STRIPE_SECRET}
    requests.post(f"{account.url}/_config/webhooks/shop", json=hook, timeout=5).raise_for_status()
    return shop


Purchase = collections.namedtuple("Purchase", "user price blob is_paid")


def subscribe(account, shop, user, price, how, blob=None):
    """Posts a context, unless there is one, and buys as a checkout page does."""
    blob = blob or shop.post_context(user, price).blob
    client = account.client
    method = client.payment_methods.create({"type": "card", "card": {
        "number": CARDS[how], "exp_month": 12, "exp_year": 2035, "cvc": "123"}})
    customer = client.customers.create({"email": f"{user}@example.com"})
    client.payment_methods.attach(method.id, {"customer": customer.id})
    client.customers.update(customer.id, {"invoice_settings": {"default_payment_method": method.id}})
    subscription = client.subscriptions.create({
        "customer": customer.id, "items": [{"plan": price}], "metadata": {"ply_user_id": user},
        "expand": ["latest_invoice.payment_intent"]})
    if how == "confirmed":
        intent = subscription.latest_invoice.payment_intent
        requests.post(f"{account.url}/v1/payment_intents/{intent.id}/_authenticate", timeout=5, data={
            "client_secret": intent.client_secret, "success": "true", "key": "pk_test_1"}).raise_for_status()
    return subscription.id, Purchase(user, price, blob, how != "declined")


def check(shop, receiver, bought):
    """Each paid subscription has one delivered receipt, of its user, price and context. The others wait for their payment."""
    paid = {id: purchase for id, purchase in bought.items() if purchase.is_paid}
    wait_for("each paid subscription has a delivered receipt",
             lambda: {receipt["object_id"] for receipt in shop.receipts("delivered")} >= set(paid))
    states = collections.Counter((receipt["state"], receipt["reason"]) for receipt in shop.receipts())
    waiting = len(bought) - len(paid)
    assert states == {("delivered", None): len(paid), **({("waiting", "payment"): waiting} if waiting else {})}
    for body in receiver.bodies():
        user, price, blob, _ = paid[body["stripe_object_id"]]
        assert (body["user_id"], body["stripe_price_id"], body["ply_context"]) == (user, price, blob)


def test_subscriptions_are_delivered_when_they_are_paid(shop, account, receiver):
    choose = random.Random(SEED)
    users = [(f"user-{number}-{how}", how) for number in range(4) for how in CARDS]
    bought = dict(subscribe(account, shop, user, choose.choice(PRICES), how) for user, how in users)
    account.wait_for_webhooks()
    check(shop, receiver, bought)
    # What becomes of a subscription later makes no receipt, and is known to Purchasely from Stripe.
    client, subscriptions = account.client, list(bought)
    client.subscriptions.cancel(subscriptions[0])
    client.subscriptions.update(subscriptions[-1], {"items": [{"plan": PRICES[0]}], "cancel_at_period_end": True})
    account.wait_for_webhooks()
    check(shop, receiver, bought)
    assert len(receiver.arrivals) == sum(purchase.is_paid for purchase in bought.values()), "none was sent twice"


def test_a_relay_that_is_killed_loses_nothing_that_it_acknowledged_and_fetches_the_rest(shop, account, receiver):
    choose, bought = random.Random(SEED), {}
    for life in range(KILLS):
        users = {f"user-{life}-{number}": choose.choice(PRICES) for number in range(5)}
        blobs = {user: shop.post_context(user, price).blob for user, price in users.items()}
        bought.update(subscribe(account, shop, user, price, "paid", blobs[user]) for user, price in users.items())
        # Once before localstripe sends the webhooks, then while it sends them.
        time.sleep(choose.uniform(0.8, 1.1) if life else 0)
        shop.stop(signal.SIGKILL)
        if life == 0:
            account.wait_for_webhooks()
        shop.start()
    account.wait_for_webhooks()
    stored = collections.Counter(event["type"] for event in shop.ctl("events", "list", "--limit", "1000"))
    assert stored >= account.acknowledged, "each event that was answered with 2xx is there"
    missing = [report["missing"] for report in shop.ctl("events", "backfill", "--since", "1h")]
    assert missing[0] >= 10, "both events of the five purchases in the first life were fetched"
    check(shop, receiver, bought)
    assert [report["missing"] for report in shop.ctl("events", "backfill", "--since", "1h")] == [0]
    assert len(receiver.arrivals) <= len(bought) + KILLS * 8, "sent twice is at most what was under way at a kill"
