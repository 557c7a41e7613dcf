"""What the benchmark sends, prepared before the clock runs: signed `checkout.session.completed` events of 3 KB in the
form that Stripe's webhooks have, and contexts as the app posts them. Every one is new: its own ids, its own
signature. Standard library only."""

import base64, hmac, json, pathlib, secrets, time

APP = "bench"
CLIENT_KEY = "benchmark-client-key"
WEBHOOK_SECRET = "whsec_benchmark_only"
PRICE = "price_1MbKJHJaEiB9UwXBPt0fFq4O"
EVENT_BYTES = 3072
ID = "@ID@"


def blob(presentation):
    """A ply_context. What comes before the presentation's id is a multiple of three bytes, and so is the id: its base64
    then stands alone in the middle."""
    text = json.dumps({"presentation_id": presentation, "placement_id": "onboarding", "stripe_price_id": PRICE,
                       "stripe_object_type": "subscription", "original_platform": "IOS"})
    text = " " * (-text.index(presentation) % 3) + text
    return base64.b64encode(text.encode()).decode()


def session():
    """A paid checkout, with every key that a session has, most of them null."""
    unset = ["after_expiration", "allow_promotion_codes", "billing_address_collection", "client_secret", "consent",
             "consent_collection", "currency_conversion", "customer_email", "locale", "payment_intent", "payment_link",
             "payment_method_configuration_details", "phone_number_collection", "recovered_from", "setup_intent",
             "shipping_address_collection", "shipping_cost", "shipping_details", "submit_type", "url"]
    return {
        "id": "cs_live_" + ID, "object": "checkout.session", **dict.fromkeys(unset), "amount_subtotal": 999,
        "amount_total": 999, "automatic_tax": {"enabled": False, "status": None}, "cancel_url": "https://example.com/no",
        "client_reference_id": "user-" + ID, "created": 1750000000, "currency": "eur", "custom_fields": [],
        "custom_text": {"shipping_address": None, "submit": None, "terms_of_service_acceptance": None},
        "customer": "cus_" + ID, "customer_creation": "always",
        "customer_details": {"address": {"city": None, "country": "SE", "line1": None, "line2": None,
                                         "postal_code": None, "state": None},
                             "email": "someone@example.com", "name": "Someone Else", "phone": None,
                             "tax_exempt": "none", "tax_ids": []},
        "expires_at": 1750086400, "invoice": "in_" + ID, "livemode": True,
        # The blob itself: the event then has all that its receipt needs, and the whole join runs.
        "metadata": {"ply_context": blob("pres_benchmark")},
        "mode": "subscription", "payment_method_collection": "always",
        "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
        "payment_method_types": ["card"], "payment_status": "paid", "shipping_options": [], "status": "complete",
        "subscription": "sub_" + ID, "success_url": "https://example.com/yes",
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0}, "ui_mode": "hosted"}


def event_template(id_bytes):
    event = {"id": "evt_" + ID, "object": "event", "api_version": "2023-10-16", "created": 1750000000,
             "data": {"object": session()}, "livemode": True, "pending_webhooks": 1,
             "request": {"id": None, "idempotency_key": None}, "type": "checkout.session.completed"}
    text = json.dumps(event, indent=2)  # indented, as Stripe sends them
    size = len(text) + text.count(ID) * (id_bytes - len(ID))
    return text.replace("https://example.com/yes", "https://example.com/yes?" + "x" * (EVENT_BYTES - size - 1))


def head(path, fields, body_bytes):
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json; charset=utf-8",
             f"Content-Length: {body_bytes}", *fields]
    return "\r\n".join(lines)


def write_events(folder, count):
    template, moment = event_template(24), int(time.time())
    parts = [part.encode() for part in template.split(ID)]
    parts[0] = f"{moment}.".encode() + parts[0]
    with open(folder / "events.records", "wb") as records:
        for _ in range(count):
            name = secrets.token_hex(12).encode()
            signature = hmac.digest(WEBHOOK_SECRET.encode(), name.join(parts), "sha256").hex().encode()
            records.write(name + signature)
    (folder / "events.body").write_text(template)
    (folder / "events.head").write_text(head(
        f"/v1/{APP}/webhooks/stripe", ["User-Agent: Stripe/1.0", f"Stripe-Signature: t={moment},v1="], EVENT_BYTES))


def write_contexts(folder, count):
    name = secrets.token_hex(12)
    marked = blob(name).replace(base64.b64encode(name.encode()).decode(), "@BASE64@")
    template = json.dumps({"user_id": "user-" + ID, "ply_context": marked})
    size = len(template) + 24 - len(ID) + 32 - len("@BASE64@")
    with open(folder / "contexts.records", "wb") as records:
        for _ in range(count):
            name = secrets.token_hex(12).encode()
            records.write(name + base64.b64encode(name))
    (folder / "contexts.body").write_text(template)
    (folder / "contexts.head").write_text(head(
        f"/v1/{APP}/contexts", [f"Authorization: Bearer {CLIENT_KEY}"], size) + "\r\n\r\n")


def write(folder, count):
    folder = pathlib.Path(folder)
    write_events(folder, count)
    write_contexts(folder, count)
