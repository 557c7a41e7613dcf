"""The requests of the benchmark, prepared before the clock runs: signed `checkout.session.completed` events of 3 KB in the
form that Stripe's webhooks have, and contexts as the app posts them. Every one is new: its own ids, its own
signature. Standard library only.

A template is a whole request with marks `@OFFSET:LENGTH@`; there go those bytes of a record, all of one size."""

import base64, hashlib, hmac, json, pathlib, re, secrets, time, uuid

APP = "bench"
CLIENT_KEY = "benchmark-client-key"
WEBHOOK_SECRET = "whsec_benchmark_only"
PRICE = "price_1MbKJHJaEiB9UwXBPt0fFq4O"
PRESENTATION = "pres_benchmark"
EVENT_BYTES = 3072
EVENTS_PER_SECOND = 10000  # of the time in Stripe's ids
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
STRIPE_EPOCH = 1342389378  # what Stripe's ids count from (README.md)
ACCOUNT = "Yb3Qm5ZpT1"  # ten characters of the account's id stand in most ids
RANDOM_CHARACTERS = "".join(BASE62[byte % 62] for byte in range(256)).encode()


def base62(number, width):
    text = ""
    for _ in range(width):
        number, digit = divmod(number, 62)
        text = BASE62[digit] + text
    return text


class Fields:
    """The fields that differ from record to record, one after the other."""

    def __init__(self, **widths):
        self.places, self.bytes = {}, 0
        for name, width in widths.items():
            self.places[name] = (self.bytes, width)
            self.bytes += width

    def marked(self, template):
        return re.sub("@([a-z0-9_]+)@", lambda found: "@%d:%d@" % self.places[found[1]], template)

    def filled_bytes(self, template):
        return len(re.sub("@([a-z0-9_]+)@", lambda found: "x" * self.places[found[1]][1], template))


# The event's own random part, those of the others, what customers type, and the times. No two customers type the
# same, so that a compressed body is as long as a real one.
EVENT = Fields(evt=8, sub=8, **{"in": 8}, cs=56, cus=14, email=12, name=12, postal=5, user=36, second=5, created=10,
               app=3, signature=64)
CONTEXT = Fields(user=36, base64=32)


def small_blob():
    return base64.b64encode(json.dumps({"stripe_price_id": PRICE}).encode()).decode()


def blob_text(presentation):
    """A ply_context before its base64. What comes before the presentation's id is a multiple of three bytes, and so is
    the id: its base64 then stands alone in the middle."""
    text = json.dumps({"presentation_id": presentation, "placement_id": "onboarding", "stripe_price_id": PRICE,
                       "stripe_object_type": "subscription", "original_platform": "IOS"})
    return " " * (-text.index(presentation) % 3) + text


def blob(presentation):
    return base64.b64encode(blob_text(presentation).encode()).decode()


def session():
    """A paid checkout, with every key that a session has, most of them null."""
    unset = ["after_expiration", "allow_promotion_codes", "billing_address_collection", "client_secret", "consent",
             "consent_collection", "currency_conversion", "customer_email", "locale", "payment_intent", "payment_link",
             "payment_method_configuration_details", "phone_number_collection", "recovered_from", "setup_intent",
             "shipping_address_collection", "shipping_cost", "shipping_details", "submit_type", "url"]
    return {
        "id": "cs_live_a1@cs@", "object": "checkout.session", **dict.fromkeys(unset), "amount_subtotal": 999,
        "amount_total": 999, "automatic_tax": {"enabled": False, "status": None}, "cancel_url": "https://example.com/no",
        "client_reference_id": "@user@", "created": "@created@", "currency": "eur", "custom_fields": [],
        "custom_text": {"shipping_address": None, "submit": None, "terms_of_service_acceptance": None},
        "customer": "cus_@cus@", "customer_creation": "always",
        "customer_details": {"address": {"city": None, "country": "SE", "line1": None, "line2": None,
                                         "postal_code": "@postal@", "state": None},
                             "email": "@email@.at.example.com", "name": "Someone @name@", "phone": None,
                             "tax_exempt": "none", "tax_ids": []},
        "expires_at": 1750086400, "invoice": "in_1@second@" + ACCOUNT + "@in@", "livemode": True,
        # The blob itself: the event then has all data for its receipt, and the whole join runs.
        "metadata": {"ply_context": blob(PRESENTATION)},
        "mode": "subscription", "payment_method_collection": "always",
        "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
        "payment_method_types": ["card"], "payment_status": "paid", "shipping_options": [], "status": "complete",
        "subscription": "sub_1@second@" + ACCOUNT + "@sub@", "success_url": "https://example.com/yes",
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0}, "ui_mode": "hosted"}


def random_text(bytes_each, count):
    """`count` random base62 texts."""
    text = secrets.token_bytes(bytes_each * count).translate(RANDOM_CHARACTERS)
    return [text[at:at + bytes_each] for at in range(0, len(text), bytes_each)]


def random_users(count):
    text = secrets.token_bytes(16 * count)
    return [str(uuid.UUID(bytes=text[at:at + 16], version=4)).encode() for at in range(0, len(text), 16)]


def small_session(names_user=True, carries_context=True):
    """Only the necessary fields. Without a user its receipt waits for one; without the blob it gets the user's context."""
    user = {"client_reference_id": "@user@"} if names_user else {}
    metadata = {"ply_context": small_blob()} if carries_context else {}
    return {"id": "cs_live_a1@cs@", "object": "checkout.session", "created": "@created@",
            "customer": "cus_@cus@", **user, "metadata": metadata, "mode": "subscription", "payment_status": "paid",
            "subscription": "sub_1@second@" + ACCOUNT + "@sub@"}


def event_body(object_):
    """Stripe's event in full, indented as Stripe sends it, and as long as EVENT_BYTES."""
    event = {"id": "evt_1@second@" + ACCOUNT + "@evt@", "object": "event", "api_version": "2023-10-16",
             "created": "@created@", "data": {"object": object_}, "livemode": True, "pending_webhooks": 1,
             "request": {"id": None, "idempotency_key": None}, "type": "checkout.session.completed"}
    text = json.dumps(event, indent=2).replace('"@created@"', "@created@")
    padding = "?" + "x" * (EVENT_BYTES - EVENT.filled_bytes(text) - 1)
    return text.replace("https://example.com/yes", "https://example.com/yes" + padding)


def small_event_body(object_):
    event = {"id": "evt_1@second@" + ACCOUNT + "@evt@", "object": "event", "created": "@created@",
             "data": {"object": object_}, "type": "checkout.session.completed"}
    return json.dumps(event, separators=(",", ":")).replace('"@created@"', "@created@")


def request(path, fields, body, kind):
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json; charset=utf-8",
             f"Content-Length: {kind.filled_bytes(body)}", *fields, "", body]
    return kind.marked("\r\n".join(lines))


def event_records(count, body, moment, apps, users):
    """One record for each event, signed: the signature is over `body` with the record's values."""
    key = hmac.new(WEBHOOK_SECRET.encode(), digestmod=hashlib.sha256)
    parts = [part.encode() for part in re.split("@[a-z0-9_]+@", f"{moment}.{body}")]
    order = re.findall("@([a-z0-9_]+)@", body)
    first_second = moment - count // EVENTS_PER_SECOND
    drawn = random_text(8 + 8 + 8 + 56 + 10 + 12 + 12 + 5, count)
    for number in range(count):
        created = first_second + number // EVENTS_PER_SECOND
        age, random = created - STRIPE_EPOCH, drawn[number]
        value = {"evt": random[:8], "sub": random[8:16], "in": random[16:24], "cs": random[24:80],
                 "cus": base62(age // 60, 4).encode() + random[80:90], "email": random[90:102],
                 "name": random[102:114], "postal": random[114:], "user": users[number],
                 "second": base62(age, 5).encode(), "created": str(created).encode(),
                 "app": b"%03d" % (1 + number % apps)}
        signed = key.copy()
        pieces = [parts[0]]
        for name, part in zip(order, parts[1:]):
            pieces += value[name], part
        signed.update(b"".join(pieces))
        yield b"".join(value.values()) + signed.hexdigest().encode()


def write_events(folder, name, count, path=f"/v1/{APP}/webhooks/stripe", apps=1, small=None,
                 users=None):
    """Requests for `apps` apps in turn, if the path has the mark `@app@`, by new users unless some are given."""
    folder, moment = pathlib.Path(folder), int(time.time())
    body = small_event_body(small) if small else event_body(session())
    head = ["User-Agent: Stripe/1.0", f"Stripe-Signature: t={moment},v1=@signature@"]
    (folder / f"{name}.template").write_text(request(path, head, body, EVENT))
    with open(folder / f"{name}.records", "wb") as records:
        records.writelines(event_records(count, body, moment, apps, users or random_users(count)))


def subscriptions(folder, name, first, count):
    """The subscriptions that these records of events are about, in their order."""
    places = EVENT.places
    with open(pathlib.Path(folder) / f"{name}.records", "rb") as records:
        records.seek(first * EVENT.bytes)
        for _ in range(count):
            record = records.read(EVENT.bytes).decode()
            part = {field: record[at:at + width] for field, (at, width) in places.items()}
            yield f"sub_1{part['second']}{ACCOUNT}{part['sub']}"


def write_contexts(folder, name, count, users=None):
    """Contexts that all differ, by new users; or for each of these users the one that their events name."""
    folder = pathlib.Path(folder)
    drawn = secrets.token_hex(12)
    marked = blob(drawn).replace(base64.b64encode(drawn.encode()).decode(), "@base64@")
    if users:
        marked = blob(PRESENTATION)
    body = json.dumps({"user_id": "@user@", "ply_context": marked})
    (folder / f"{name}.template").write_text(
        request(f"/v1/{APP}/contexts", [f"Authorization: Bearer {CLIENT_KEY}"], body, CONTEXT))
    with open(folder / f"{name}.records", "wb") as records:
        if users:  # a record ends with the last field that the template has
            records.writelines(users)
            return
        for user, text in zip(random_users(count), random_text(24, count)):
            records.write(user + base64.b64encode(text))
