"""nginx with the shipped sites of deploy/nginx, in front of receiptd and over TLS, asked by Python's `requests`."""

import contextlib, json, os, re, subprocess

import pytest, requests
from stripe import WebhookSignature

from harness import APP, CLIENT_KEY, REPOSITORY, STRIPE_SECRET, blob, free_port, payment, running

NGINX = "/usr/sbin/nginx"
NAMES = ["pay.example.com", "receipts.internal.example.com"]
PASSWORDS = {"ann": "of-ann-1", "bob": "of-bob-1"}


class Site:
    """A shipped site, in which only what its comments name is changed: addresses, names of files and the certificate."""

    def __init__(self, name, folder, changes):
        self.folder, self.port, self.plain = folder, free_port(), free_port()
        self.certificate = folder / "certificate.pem"
        names = ",".join(["IP:127.0.0.1", *(f"DNS:{name}" for name in NAMES)])
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=pay.example.com", "-addext", f"subjectAltName={names}", "-keyout", folder / "key.pem",
                        "-out", self.certificate], check=True, capture_output=True)
        text = (REPOSITORY / "deploy/nginx" / name).read_text()
        for written, meant in {"listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl", **changes}.items():
            assert text.count(written) == 1, f"{name} has {written} {text.count(written)} times"
            text = text.replace(written, str(meant))
        text = re.sub(r"  listen \[::\].*\n", "", text).replace("listen 80;", f"listen 127.0.0.1:{self.plain};")
        text = re.sub(r"/etc/letsencrypt/live/[a-z.]+/", f"{folder}/", text).replace("/fullchain.pem", "/certificate.pem")
        text = text.replace("/privkey.pem", "/key.pem").replace("/var/log/nginx", str(folder))
        (folder / "site.conf").write_text(text)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        places = "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        (folder / "nginx.conf").write_text(
            f"daemon off;\n{'user root;' if os.geteuid() == 0 else ''}\nworker_processes 1;\npid {folder}/nginx.pid;\n"
            f"events {{}}\nhttp {{\n{places}  include {folder}/site.conf;\n}}\n")
        self.words = [NGINX, "-e", folder / "nginx.log", "-c", folder / "nginx.conf"]

    def ask(self, method, path, name=NAMES[0], **more):
        headers = {"Host": name, **more.pop("headers", {})}
        return requests.request(method, f"https://127.0.0.1:{self.port}{path}", headers=headers, verify=self.certificate,
                                timeout=40, allow_redirects=False, **more)

    def logs(self):
        return "".join(path.read_text() for path in self.folder.glob("*.log") if path.name != "receiptd.log")


@pytest.fixture
def proxy(tmp_path):
    """Starts nginx with a site."""
    with contextlib.ExitStack() as stack:
        def start(name, changes):
            site = Site(name, tmp_path, changes)
            stack.enter_context(running(site.words, tmp_path / "nginx.log", site.port))
            return site
        yield start


@pytest.mark.parametrize("name", ["receipt-relay.conf", "receipt-relays.conf"])
def test_a_checkout_goes_through_the_site_and_nothing_private_does(relay, receiver, proxy, name):
    shop, away = relay(), free_port()
    ports = {"server 127.0.0.1:8080": shop.port} if name == "receipt-relay.conf" else {
        "server 10.0.0.11:8080": away, "server 10.0.0.12:8080": shop.port}
    site = proxy(name, {address: f"server 127.0.0.1:{port}" for address, port in ports.items()})
    for number in range(4):
        user, text = f"customer {number}", blob("price_gold", number=number)
        posted = site.ask("POST", f"/v1/{APP}/users/{user}/contexts", headers={"X-API-KEY": CLIENT_KEY},
                          json={"ply_context": text})
        assert posted.status_code == 201, posted.text
        event = payment(number, posted.json()["context_id"])
        signature = WebhookSignature.generate_signature_header(event, STRIPE_SECRET)
        assert site.ask("POST", f"/v1/{APP}/webhooks/stripe", data=event, headers={
            "Content-Type": "application/json", "Stripe-Signature": signature}).json() == {"received": True}
        state = site.ask("GET", posted.json()["status_url"] + "?wait=20").json()
        assert (state["state"], state["paid"]) == ("delivered", True)
        assert receiver.bodies()[-1]["ply_context"] == text
    for path in ("/", "/metrics", "/healthz", "/readyz", "/find"):
        assert site.ask("GET", path).status_code == 404
    assert site.ask("POST", f"/v1/{APP}/webhooks/stripe", data=b"x" * (4 * 1024 * 1024 + 1)).status_code == 413
    moved = requests.get(f"http://127.0.0.1:{site.plain}/v1/x", headers={"Host": NAMES[0]}, allow_redirects=False, timeout=20)
    assert (moved.status_code, moved.headers["Location"]) == (301, "https://pay.example.com/v1/x")
    shop.stop()
    away = site.ask("GET", f"/v1/{APP}/contexts/ctx_0")
    assert (away.status_code, away.headers["Retry-After"], away.json()["type"]) == (503, "5", "urn:receiptd:problem:away")
    assert not re.search("customer|ctx_[0-9A-Z]{26}", site.logs()), "no user and no context is in nginx's logs"


def test_the_site_of_the_dashboard_lets_one_user_operate_and_another_only_read(relay, proxy, tmp_path):
    hashed = {user: subprocess.run(["openssl", "passwd", "-apr1", password], capture_output=True, text=True, check=True).stdout
              for user, password in PASSWORDS.items()}
    (tmp_path / "users").write_text("".join(f"{user}:{text}" for user, text in hashed.items()))
    shop = relay(admin={"operators": [{"name": "ann"}], "viewers": [{"name": "bob"}], "proxies": ["127.0.0.1"]})
    site = proxy("receipt-admin.conf", {"server 127.0.0.1:8081;": f"server 127.0.0.1:{shop.admin};",
                                        "/etc/nginx/receipt-admin.users;": f"{tmp_path}/users;"})

    def ask(user, method, path, **more):
        return site.ask(method, path, NAMES[1], auth=(user, PASSWORDS[user]), **more)

    def pause(user):
        """Fills in the form as a browser does."""
        page = ask(user, "GET", f"/apps/{APP}/pause")
        token = re.search(r'name="token" value="([^"]+)"', page.text)[1]
        return ask(user, "POST", f"/apps/{APP}/pause", data={"token": token, "for": "1h", "why": "tried"}, cookies=page.cookies)

    assert site.ask("GET", "/", NAMES[1]).status_code == 401
    assert site.ask("GET", "/", NAMES[1], auth=("ann", PASSWORDS["bob"])).status_code == 401
    for user in PASSWORDS:
        assert ask(user, "GET", "/receipts").status_code == 200
        assert ask(user, "POST", "/find", data={"q": "sub_1"}).status_code in (200, 303)
        assert ask(user, "GET", "/", headers={"X-Remote-User": "ann"}).status_code == 200, "the client's field is replaced"
    assert ask("bob", "GET", f"/apps/{APP}/pause", headers={"X-Remote-User": "ann"}).status_code == 403
    refused = ask("bob", "POST", f"/apps/{APP}/pause", data={"for": "1h", "why": "tried"})
    assert (refused.status_code, refused.headers.get("WWW-Authenticate")) == (403, None), "the browser asks for no other password"
    assert not shop.ctl("audit", "list")
    assert pause("ann").status_code == 303
    assert "ann" in json.dumps(shop.ctl("audit", "list")), "the audit names who did it"
