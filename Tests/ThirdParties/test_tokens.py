"""Tokens of users against PyJWT: receiptd accepts those that PyJWT makes and accepts, and none that PyJWT refuses."""

import base64, hmac, json, random, time

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, HMACAlgorithm, RSAAlgorithm

from harness import SEED, wait_for

ISSUER, AUDIENCE, LEEWAY = "https://id.example.com/", "shop-api", 60
CASES = 600
PRIVATE = {"RS256": rsa.generate_private_key(65537, 2048), "ES256": ec.generate_private_key(ec.SECP256R1()), "HS256": b"k" * 32}
OTHERS = {"RS256": rsa.generate_private_key(65537, 2048), "ES256": ec.generate_private_key(ec.SECP256R1()), "HS256": b"x" * 32}
WRITERS = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "HS256": HMACAlgorithm}


def public(key):
    return key if isinstance(key, bytes) else key.public_key()


def key_set(keys):
    """The JWK Set of these keys, as PyJWT writes it."""
    written = {name: WRITERS[name].to_jwk(public(key), as_dict=True) for name, key in keys.items()}
    return json.dumps({"keys": [{**key, "kid": f"key-{name}"} for name, key in written.items()]})


def encoded(text):
    return base64.urlsafe_b64encode(text.encode() if isinstance(text, str) else text).rstrip(b"=").decode()


def shared_secret(token, name):
    """The token again, as HS256 with the public key as its secret."""
    pem = public(PRIVATE[name]).public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    signed = encoded(json.dumps({"alg": "HS256", "kid": f"key-{name}"})) + "." + token.split(".")[1]
    return signed + "." + encoded(hmac.digest(pem, signed.encode(), "sha256"))


def spoilt(choose, token, name):
    """One of the ways to forge."""
    head, claims, signature = token.split(".")
    return choose.choice([
        f"{head}.{encoded(json.dumps({'sub': 'mallory', 'iss': ISSUER, 'aud': AUDIENCE, 'exp': 9999999999}))}.{signature}",
        f"{encoded(json.dumps({'alg': 'none', 'kid': f'key-{name}'}))}.{claims}.", f"{head}.{claims}.", f"{head}.{claims}",
        f"{head}.{claims}.{signature[:-4]}", f"{head}.{claims}.{signature}.{signature}", f"{claims}.{head}.{signature}",
        f"{head}.{claims}.{encoded(bytes(64))}", f"{head}.{claims}.{signature}=", f"{head}.{claims[:-2]}.{signature}",
        shared_secret(token, name) if name != "HS256" else f"{head}..{signature}"])


def draw(choose, now):
    """A token, in most of its parts correct."""
    def mostly(good, *others):
        return choose.choice(good) if choose.random() < 0.9 else choose.choice(others)

    name, absent = choose.choice(list(PRIVATE)), object()
    # Far enough from the limit that a slow machine does not cross it.
    claims = {
        "sub": mostly(["jane", "jöhn", "用户-1", "a/b c", "u" * 255], absent, "", 7, None, ["jane"], "u" * 256, "jane\n"),
        "iss": mostly([ISSUER], absent, ISSUER[:-1], ISSUER.upper(), [ISSUER], "", None),
        "aud": mostly([AUDIENCE, [AUDIENCE], ["other", AUDIENCE]], absent, "other", [], "shop", None, 7),
        "exp": mostly([now + 3600, now + 600.5, now - LEEWAY + 40], absent, now - LEEWAY - 40, 0, -1, None),
        "nbf": mostly([absent, now - 5, now + LEEWAY - 40], now + LEEWAY + 600, None),
        "iat": mostly([absent, now - 5, now - 86400, now + LEEWAY - 40], now + LEEWAY + 600),
        "more": mostly([absent, {"deep": [1, {"a": None}]}, "x" * 2000], "x" * 9000),
    }
    headers = {"kid": mostly([f"key-{name}"], "unknown", "", *(f"key-{other}" for other in PRIVATE if other != name)),
               "typ": mostly(["JWT", "at+jwt"], "at+JWT"), "crit": mostly([absent], ["exp"], ["b64"], [])}
    key = mostly([PRIVATE[name]], OTHERS[name])
    body = json.dumps({key: value for key, value in claims.items() if value is not absent}, ensure_ascii=choose.random() < 0.5)
    token = jwt.api_jws.encode(body.encode(), key, name, {key: value for key, value in headers.items() if value is not absent})
    return spoilt(choose, token, name) if choose.random() < 0.15 else token


def user_of(token):
    """The user that PyJWT reads from the token, or None if it refuses the token, or if receiptd's own rules do: a token has
    at most 8 KiB and no padding, and a user 1 to 255 bytes without control characters (docs/client-access.md)."""
    if len(token) > 8192 or token.endswith("="):
        return None
    try:
        name = jwt.get_unverified_header(token)["kid"].removeprefix("key-")
        claims = jwt.decode(token, public(PRIVATE[name]), [name], audience=AUDIENCE, issuer=ISSUER, leeway=LEEWAY,
                            options={"require": ["exp", "iss", "aud", "sub"]})
        user = claims["sub"]
        return user if 1 <= len(user.encode()) <= 255 and user.isprintable() else None
    except (jwt.InvalidTokenError, KeyError, AttributeError):
        return None


def client(**where):
    return {"client": {"jwt": {"issuer": ISSUER, "audience": AUDIENCE, "leeway": f"{LEEWAY}s", **where}}}


def post(relay, token):
    """The status and the problem's reason, or the user for whom a context was stored."""
    body = json.dumps({"ply_context": encoded("{}")})
    answer = relay.ask("POST", "/v1/shop/contexts", body, {
        "Content-Type": "application/json", "Authorization": f"Bearer {token}"})
    found = json.loads(answer.text)
    return answer.status, found["user_id"] if answer.status in (200, 201) else found.get("reason", found["type"])


def test_the_tokens_that_pyjwt_accepts_are_accepted_for_the_user_that_they_name(relay, tmp_path):
    (tmp_path / "keys.json").write_text(key_set(PRIVATE))
    shop, choose, wrong, accepted = relay(client(keys=f"file:{tmp_path}/keys.json")), random.Random(SEED), [], 0
    for _ in range(CASES):
        token = draw(choose, int(time.time()))
        theirs, (status, ours) = user_of(token), post(shop, token)
        accepted += theirs is not None
        if not (status in (200, 201) and ours == theirs if theirs else status == 401):
            wrong.append(f"{status} {ours!r}, PyJWT says {theirs!r}: {token}")
    assert not wrong, "\n".join(wrong)
    assert accepted > CASES / 5, "too few tokens are accepted to show anything"


def test_a_key_that_the_issuer_adds_is_fetched_and_one_that_it_withdraws_is_refused(relay, receiver):
    public_keys = {name: key for name, key in PRIVATE.items() if name != "HS256"}
    old, new = ({name: public_keys[name]} for name in public_keys)

    def token(keys, user):
        (name, key), = keys.items()
        claims = {"sub": user, "iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 600}
        return jwt.encode(claims, key, name, {"kid": f"key-{name}"})

    receiver.page = key_set(old)
    shop = relay(client(jwks=receiver.url))
    assert wait_for("the key set is fetched", lambda: post(shop, token(old, "ann"))[1] == "ann")
    receiver.page = key_set(new)
    assert wait_for("the new key is fetched", lambda: post(shop, token(new, "bob"))[1] == "bob")
    # 503 until the key set was fetched for this key, too.
    assert post(shop, token(old, "ann"))[0] in (401, 503)
