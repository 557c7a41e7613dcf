// `receiptctl sandbox`: simulated payment processors and destinations, to try a relay without any account.

internal import Terminal

enum SandboxCommands {
  static let spec = CommandGroup(
    "sandbox", summary: "Stand-ins for processors and destinations, to test a relay")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["sandbox", "destination"], summary: "Stand in for Purchasely's endpoint and print its requests",
        discussion: """
          Runs until it is interrupted, for this machine only. Answers like the real endpoint, as far as \
          that is documented: 200 with an import id, 403 without a key, 422 if a property is missing. \
          Nothing is stored.
          """,
        options: [
          OptionSpec(
            "port", placeholder: "P",
            help: "Where to listen; \(SandboxDestinationCommand.portDefault) without it"),
          OptionSpec("status", placeholder: "S", help: "Always answer with this status, such as 503 or 422"),
          OptionSpec("fail-rate", placeholder: "F", help: "Answer this share with 503, from 0 to 1"),
          OptionSpec("delay", placeholder: "D", help: "Delay every answer, such as 250ms or 5s"),
        ],
        examples: [
          ExampleSpec("receiptctl sandbox destination", "A destination that accepts everything"),
          ExampleSpec(
            "receiptctl sandbox destination --fail-rate 0.3 --delay 200ms", "One that is slow and fails"),
          ExampleSpec(
            "receiptctl sandbox destination --status 422", "One that refuses, to try a replay"),
        ]), run: SandboxDestinationCommand.run),
    SandboxWebhookCommand.verb,
    Verb(
      spec: CommandSpec(
        ["sandbox", "stripe"], summary: "Stand in for Stripe's API and print its requests",
        discussion: """
          Runs until it is interrupted, for this machine only. Serves a list of events, and their checkout \
          sessions and subscriptions, to receiptd and events backfill. Accepts any key.
          """,
        options: [
          OptionSpec(
            "port", placeholder: "P",
            help: "Where to listen; \(SandboxStripeCommand.portDefault) without it"),
          OptionSpec(
            "events", placeholder: "FILE|N",
            help:
              "This many made-up checkouts, a minute apart, or a file with an event on each line; 20 without "
              + "it"),
          OptionSpec("fail-rate", placeholder: "F", help: "Answer this share with 500, from 0 to 1"),
          OptionSpec("status", placeholder: "S", help: "Always answer with this status, such as 401 or 429"),
          OptionSpec("rate-limit", placeholder: "N/s", help: "Answer 429 to requests beyond this rate"),
          OptionSpec("page-size", placeholder: "N", help: "The most events in a page; 100 without it"),
        ],
        examples: [
          ExampleSpec("receiptctl sandbox stripe --events 250", "An account with 250 checkouts"),
          ExampleSpec(
            "receiptctl sandbox stripe --rate-limit 2/s --fail-rate 0.2 --page-size 10",
            "A rate limit, errors and small pages"),
        ]), run: SandboxStripeCommand.run),
    SandboxSwedbankCommand.verb,
    SandboxAfterpayCommand.verb,
    SandboxCheckoutCommand.verb,
    Verb(
      spec: CommandSpec(
        ["sandbox", "event"], summary: "Send a correctly signed Stripe event to the configured receiptd",
        discussion: """
          Signs with the app's first webhook secret, so it must be readable here.
          TYPE is a short form or Stripe's name:
          - subscription: checkout.session.completed, a subscription, paid
          - payment: checkout.session.completed, a single payment, paid
          - unpaid: checkout.session.completed, the money still under way
          - async-succeeded: checkout.session.async_payment_succeeded
          - async-failed: checkout.session.async_payment_failed
          - expired: checkout.session.expired
          - subscription-created: customer.subscription.created
          - invoice-paid: invoice.paid
          Ids are made up. To continue a purchase, give --session and --subscription; a checkout with \
          --subscription sells that subscription, one without is a single payment.
          """,
        options: [
          OptionSpec("app", placeholder: "APP", help: "The app; not needed when there is one only"),
          OptionSpec(
            "user", placeholder: "USER", help: "Your id of the user; left out, the event names none"),
          OptionSpec(
            "price", placeholder: "PRICE", help: "The price, price_…; left out, the event names none"),
          OptionSpec("type", placeholder: "TYPE", help: "The type of the event; subscription without it"),
          OptionSpec(
            "context", placeholder: "C",
            help:
              "A context's id (ctx_…) or its blob, for the metadata; an id without --user is the checkout's "
              + "reference, as a Payment Link passes it on"),
          OptionSpec("session", placeholder: "ID", help: "The checkout session, cs_…"),
          OptionSpec("subscription", placeholder: "ID", help: "The subscription, sub_…"),
          OptionSpec("customer", placeholder: "ID", help: "The customer, cus_…"),
          OptionSpec(
            "url", placeholder: "URL", help: "Where receiptd is reached, when not at its listen address"),
        ],
        examples: [
          ExampleSpec(
            "receiptctl sandbox event --app ios --user jdo-1 --price price_1MbKJHJaEiB9UwXBPt0fFq4O",
            "A subscription was bought"),
          ExampleSpec(
            "receiptctl sandbox event --user jdo-1 --price price_1 --type unpaid", "The money is under way"),
          ExampleSpec(
            "receiptctl sandbox event --user jdo-1 --type async-succeeded --session cs_test_a1",
            "The money has arrived"),
        ]), run: SandboxEventCommand.run),
    Verb(
      spec: CommandSpec(
        ["sandbox", "load"], summary: "Send made-up checkouts to the configured receiptd at a steady rate",
        discussion: """
          Each is a context, posted with the app's first client key, and its event, signed with its first \
          webhook secret, so both must be readable here; an app that accepts only tokens refuses them. Every \
          user is new. Deliver to sandbox destination, never to the real one: these purchases did \
          not happen.
          """,
        options: [
          OptionSpec("app", placeholder: "APP", help: "The app; not needed when there is one only"),
          OptionSpec("rate", placeholder: "N/s", help: "Checkouts a second, such as 50/s; 10/s without it"),
          OptionSpec("duration", placeholder: "D", help: "How long, such as 90s or 5m; 1m without it"),
          OptionSpec(
            "url", placeholder: "URL", help: "Where receiptd is reached, when not at its listen address"),
        ],
        examples: [
          ExampleSpec("receiptctl sandbox load --rate 50/s --duration 5m", "A busy shop, for five minutes")
        ]), run: SandboxLoadCommand.run),
  ]
}
