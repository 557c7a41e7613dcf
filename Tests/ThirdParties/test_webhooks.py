"""The receipts and notices that a merchant's own backend gets, verified with the libraries of Standard Webhooks and of Svix."""

import base64, json

import pytest, standardwebhooks, svix.webhooks

from harness import APP, payment, sign, wait_for

SECRETS = ["whsec_" + base64.b64encode(bytes([number]) * length).decode() for number, length in ((7, 24), (9, 64))]
WRONG = "whsec_" + base64.b64encode(b"x" * 32).decode()
USERS = ["jane", "jöhn@example.com", "用户 1", "\U0001f980 \"quoted\" \\ /"]
LIBRARIES = [standardwebhooks.Webhook, svix.webhooks.Webhook]


@pytest.fixture
def shop(relay, receiver):
    """A relay that posts its receipts and its notices to `receiver`."""
    return relay({"stripe": {"deliver_to": "webhook"}, "webhook": {"url": receiver.url, "secrets": SECRETS}},
                 alerts=[{"to": receiver.url, "as": "webhook", "secrets": SECRETS, "on": ["breaker_open"]}])


def buy(shop, user, number):
    context = shop.post_context(user, "price_gold")
    assert context.status == 201, context.text
    body = payment(number, json.loads(context.text)["context_id"]).encode()
    assert shop.post_event(body, sign(body)).status == 200
    return context.blob


def verify(arrival, body=None, **headers):
    """Each library accepts it with each of the secrets, and refuses it with another one."""
    body, headers = arrival.body if body is None else body, {**arrival.headers, **headers}
    for library in LIBRARIES:
        for secret in SECRETS:
            library(secret).verify(body, headers)
        with pytest.raises(standardwebhooks.WebhookVerificationError):
            library(WRONG).verify(body, headers)


def test_both_libraries_accept_receipts_and_their_repeats_and_nothing_that_was_changed(shop, receiver):
    # The first attempts fail, so that there are repeats.
    receiver.script = [503] * len(USERS)
    blobs = {f"sub_{number}": buy(shop, user, number) for number, user in enumerate(USERS)}
    wait_for("all receipts are delivered", lambda: len(shop.receipts("delivered")) == len(USERS))
    assert len(receiver.arrivals) == 2 * len(USERS), "one repeat of each receipt"
    for arrival in receiver.arrivals:
        verify(arrival)
        message = json.loads(arrival.body)
        data, number = message["data"], int(message["data"]["object_id"].removeprefix("sub_"))
        assert (message["type"], data["app"], data["user_id"]) == ("purchase.completed", APP, USERS[number])
        assert data["ply_context"] == blobs[data["object_id"]]
        later, other = str(int(arrival.headers["webhook-timestamp"]) + 1), arrival.headers["webhook-id"] + "0"
        for body, headers in ((arrival.body + b" ", {}), (None, {"webhook-timestamp": later}), (None, {"webhook-id": other})):
            with pytest.raises(standardwebhooks.WebhookVerificationError):
                verify(arrival, body, **headers)
    ids = {(arrival.headers["webhook-id"], arrival.body) for arrival in receiver.arrivals}
    assert len(ids) == len(USERS), "a repeat has the id and the body of the first attempt"


def test_both_libraries_accept_notices(shop, receiver):
    shop.ctl("alerts", "test")
    arrival = wait_for("the test notice arrives", lambda: receiver.arrivals)[0]
    verify(arrival)
