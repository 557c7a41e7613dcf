"""Signatures of webhooks against the official library of Stripe: what it signs is accepted, and nothing that it refuses."""

import json, random, time

import pytest
from stripe import SignatureVerificationError, WebhookSignature

from harness import SEED, STRIPE_SECRET

SECRETS = [STRIPE_SECRET, "whsec_that_replaces_the_first_0123456789"]
WRONG = "whsec_of_another_endpoint_0123456789abcde"
TOLERANCE = 300
CASES = 1500

# Headers made of a time `t`, the right signature `s` and the signature `x` of another secret. Those that Stripe sends:
PLAIN = ["t={t},v1={s}", "t={t},v1={x},v1={s}", "t={t},v1={s},v1={x}", "t={t},v1={s},v0={x}", "t={t},v0={x},v1={s}",
         "v1={s},t={t}", "t={t},v1={s},extra=1", "t={t},v1=" + "0" * 64 + ",v1={s}"]
# Others. The library takes some of them; receiptd may refuse those, but takes none that the library refuses.
ODD = ["", "t={t}", "v1={s}", "t={t},v1=", "t={t},v1={x}", "t={t},v0={s}", "t={t},V1={s}", "T={t},v1={s}", "t={t};v1={s}",
       "t={t}, v1={s}", "t= {t},v1={s}", "t=+{t},v1={s}", "t=0{t},v1={s}", "t=-{t},v1={s}", "t={t}.0,v1={s}", "t=0x1,v1={s}",
       "t={t},t=1,v1={s}", "t=1,t={t},v1={s}", "t,t={t},v1={s}", "t={t},v1,v1={s}", "t={t},v1={s}=", "t={t},v1==%s", "t={t},v1={s}0",
       "t={t},v1={S}", 't={t},v1="{s}"', "t={t},v1={s},", ",t={t},v1={s}", "t={t},v1={h}", "t=99999999999999999999,v1={s}",
       "t={t}" + ",v1={x}" * 20 + ",v1={s}", "scheme=v1,t={t},{s}"]


def bodies(choose, number):
    event = {"id": f"evt_{number}", "object": "event", "type": "plan.created", "created": int(time.time()),
             "data": {"object": {"object": "plan", "name": choose.choice(["gold", "Größe", "金", "\U0001f980", "a\\b\"c\n"])}}}
    return json.dumps(event, ensure_ascii=choose.random() < 0.5, indent=choose.choice([None, 2]))


def accepts(body, header):
    """Whether the library accepts it, with one of the secrets."""
    for secret in SECRETS:
        try:
            return WebhookSignature.verify_header(body, header, secret, TOLERANCE)
        except SignatureVerificationError:
            pass
    return False


@pytest.fixture
def shop(relay):
    return relay({"stripe": {"webhook_secrets": SECRETS}})


def test_what_the_library_signs_is_accepted_and_what_it_refuses_is_not(shop):
    choose, wrong, accepted, stored = random.Random(SEED), [], 0, 0
    for number in range(CASES):
        text, is_plain = bodies(choose, number), choose.random() < 0.5
        shape = choose.choice(PLAIN if is_plain else ODD)
        # Far enough from the limit that a slow machine does not cross it.
        age = choose.choice([0, 0, 0, TOLERANCE - 60, TOLERANCE + 1, 86400, -TOLERANCE + 60, -TOLERANCE - 60])
        moment, secret = int(time.time()) - age, choose.choice([*SECRETS, *SECRETS, WRONG])
        headers = [WebhookSignature.generate_signature_header(text, key, moment) for key in (secret, WRONG)]
        right, other = (header.partition("v1=")[2] for header in headers)
        header = shape.replace("%s", right).format(t=moment, s=right, x=other, S=right.upper(), h=right[:32])
        sent = text if choose.random() < 0.9 else text + " "
        theirs, ours = accepts(sent, header), shop.post_event(sent.encode(), header).status
        # The library knows no future; receiptd refuses what is as far ahead as it refuses what is old.
        must = theirs and is_plain and age > -TOLERANCE
        if ours not in (200, 400) or (ours == 200 and not theirs) or (ours != 200 and must):
            wrong.append(f"{ours}, the library says {theirs}: {header!r} of {sent!r}, signed {age} s ago")
        accepted, stored = accepted + (theirs is True), stored + (ours == 200)
    assert not wrong, "\n".join(wrong)
    assert accepted > CASES / 5 and stored > CASES / 5, "too few cases are accepted to show anything"
    assert len(shop.ctl("events", "list", "--limit", "1000")) == stored, "each accepted event is stored once, and no other"
