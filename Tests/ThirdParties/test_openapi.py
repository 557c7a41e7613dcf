"""docs/openapi.yaml against openapi-spec-validator, and receiptd against docs/openapi.yaml with Schemathesis, which makes
requests from the document, valid and invalid ones, and compares each answer with it."""

import contextlib, copy

import openapi_spec_validator, pytest, requests, schemathesis, yaml
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import CHECKS

from harness import APP, CLIENT_KEY, RECEIPT_SANDBOX, REPOSITORY, Receiver, Relay, free_port, running, sign

DOCUMENT = yaml.safe_load((REPOSITORY / "docs/openapi.yaml").read_text())
WEBHOOK = "/v1/{app}/webhooks/stripe"
# A malformed id gives the page without a state, because a customer who paid must not see an error.
PAGES = ("/v1/{app}/return", "/v1/{app}/swedbank/complete", "/v1/{app}/swedbank/cancel")
# Not that a valid request is accepted: there are rules that no schema can express.
ANSWERS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
           "response_schema_conformance"]
REFUSALS = ["negative_data_rejection", "missing_required_header", "unsupported_method", "ignored_auth"]
BOUNDED = settings(max_examples=25, derandomize=True, deadline=None, database=None,
                   suppress_health_check=list(HealthCheck))


def document_of(app):
    """The document for a relay that has only this app."""
    document = copy.deepcopy(DOCUMENT)
    document["components"]["parameters"]["app"]["schema"] = {"const": app}
    return document


schema = schemathesis.openapi.from_dict(document_of(APP))


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A relay with an app that has every section which adds paths, and stand-ins of the processors."""
    folder = tmp_path_factory.mktemp("openapi")
    receiver, ports = Receiver(), {name: free_port() for name in ("stripe", "swedbank", "afterpay")}
    base = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    logo = folder / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>')
    app = {
        "stripe": {"api_key": "rk_test_1", "api_base": base["stripe"], "checkout": {"prices": {"price_1": "subscription"}}},
        "webhook": {"url": receiver.url, "secrets": ["whsec_" + "A" * 43 + "="]},
        "swedbank": {"api_base": base["swedbank"], "merchant_token": "merchant-token-of-the-checks", "payee_id": "payee-1",
                     "callback_from": ["127.0.0.1"], "allow": {"expand": True, "tokens": True, "payer_tokens": True}},
        "afterpay": {"api_base": base["afterpay"], "merchant_id": "100200300", "secret": "secret-of-the-checks",
                     "region": "US", "currency": "USD", "confirm_url": "shop://paid", "cancel_url": "shop://cancelled",
                     "prices": {"gold": "59.99"}},
        "links": {"origin": "https://pay.example.com", "checkout": {"price_2": "https://buy.stripe.com/test_1"},
                  "ios": {"app_ids": ["ABCDE12345.com.example.app"], "scheme": "shop"},
                  "android": {"packages": [{"name": "com.example.app", "sha256_cert_fingerprints": ["0A:" * 31 + "0A"]}]},
                  "return": {"logo": str(logo)}, "swedbank": {}},
    }
    relay = Relay(folder, receiver, app)
    with contextlib.ExitStack() as stack:
        for name, port in ports.items():
            stack.enter_context(running([RECEIPT_SANDBOX, name, "--port", port], folder / f"{name}.log", port))
        stack.callback(receiver.close)
        stack.callback(relay.stop)
        yield relay.start()


def send(case, relay, checks, **options):
    """Sends a request of Schemathesis, and compares the answer with the document."""
    port = relay.admin if "admin" in case.operation.tags else relay.port
    answer = case.call(base_url=f"http://127.0.0.1:{port}", **options)
    # A head that is too long has no operation yet.
    if answer.status_code not in (414, 431):
        case.validate_response(answer, checks=CHECKS.get_by_names(checks))


def test_the_document_is_valid():
    openapi_spec_validator.validate(DOCUMENT)


@schema.exclude(path=WEBHOOK).parametrize()
@BOUNDED
def test_each_answer_is_documented(case, everything):
    checks = ANSWERS if case.operation.path in PAGES else ANSWERS + REFUSALS
    send(case, everything, checks, headers={"X-API-KEY": CLIENT_KEY})


def signed(request):
    body = request.body or b""
    request.headers["Stripe-Signature"] = sign(body if isinstance(body, bytes) else body.encode())
    return request


@schema.include(path=WEBHOOK).parametrize()
@BOUNDED
def test_a_webhook_is_answered_as_documented_whether_it_is_signed_or_not(case, everything):
    send(case, everything, ANSWERS + REFUSALS)
    # Any body with a correct signature is stored: Stripe would only send it again.
    send(case, everything, ANSWERS, auth=signed)


def test_the_api_of_operators_answers_as_it_describes_itself(tmp_path):
    receiver, login = Receiver(), {"Authorization": "Bearer a token of the checks, long"}
    relay = Relay(tmp_path, receiver, admin={"operators": [{"name": "anna", "token": "a token of the checks, long"}]})
    with contextlib.ExitStack() as stack:
        stack.callback(receiver.close)
        stack.callback(relay.stop)
        relay.start()
        base = f"http://127.0.0.1:{relay.admin}/api/v1"
        document = requests.get(f"{base}/openapi.json", headers=login, timeout=20).json()
        openapi_spec_validator.validate(document)
        for result in schemathesis.openapi.from_dict(document).get_all_operations():

            @BOUNDED
            @given(case=result.ok().as_strategy())
            def ask(case):
                answer = case.call(base_url=base, headers=login)
                if answer.status_code not in (414, 431):
                    case.validate_response(answer, checks=CHECKS.get_by_names(ANSWERS + ["ignored_auth"]))

            ask()
