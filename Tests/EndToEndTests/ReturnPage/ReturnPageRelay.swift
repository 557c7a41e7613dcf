// A relay with a return page, and helpers that read the page. One thread.

import Domain
import Formats
import TestSupport
import Testing

extension Relay {
  /// A relay with a return page. Its destination refuses `sub_refused`, and is temporarily unavailable for
  /// `sub_paid`.
  /// - Parameters:
  ///   - retry: when a delivery is retried.
  ///   - page: further keys of `links.return`.
  static func withReturnPage(
    name: String = "Example", retry: String = "10m", page: JSONValue = [:],
    prepare: (Relay) throws -> Void = { _ in }, _ body: (Relay, Destination) throws -> Void
  ) throws {
    let fingerprint = String(repeating: "AB", count: 32)
    let links: JSONValue = [
      "origin": "https://pay.example.com",
      "ios": ["app_ids": ["ABCDE12345.com.example.app"], "scheme": "exampleapp"],
      "android": [
        "packages": [["name": "com.example.app", "sha256_cert_fingerprints": [.string(fingerprint)]]]
      ],
      "return":
        ([
          "name": .string(name), "ios_store": "https://apps.apple.com/app/id1",
          "android_store": "https://play.google.com/store",
        ] as JSONValue).merging(page),
    ]
    try withRelay(
      app: ["links": links, "delivery": ["retry": ["schedule": [.string(retry)]]]], prepare: prepare
    ) { relay, destination in
      destination.answerAll { entry in
        switch entry.objectID {
        case "sub_refused": .status(422)
        case "sub_paid": .status(503)
        default: .taken
        }
      }
      try body(relay, destination)
    }
  }

  func returnURL(_ query: String) -> String {
    "http://127.0.0.1:\(outside.api.port)/v1/shop/return\(query)"
  }

  /// A checkout in each state: its name for the screenshots, its query, and the page's heading.
  func checkoutsInEveryState() throws -> [(name: String, query: String, heading: String)] {
    func checkout(_ name: String, _ events: (Checkout) -> [JSONValue]) throws -> String {
      let checkout = Checkout(name)
      let id = try post(checkout)
      for event in events(checkout) { try ingest(event) }
      return "?context_id=\(id)"
    }
    let unpaid: JSONValue = ["payment_status": "unpaid"]
    let open = try checkout("open") { _ in [] }
    let delivered = try checkout("delivered") { [$0.completed] }
    try reaches(.delivered, "sub_delivered")
    let refused = try checkout("refused") { [$0.completed] }
    try reaches(.failed, "sub_refused")
    let paid = try checkout("paid") { [$0.completed] }
    let failed = try checkout("failed") {
      [$0.sessionEvent("completed", unpaid), $0.sessionEvent("async_payment_failed", unpaid)]
    }
    try reaches(.cancelled, "sub_failed")
    try ingest(
      Checkout("ended").sessionEvent(
        "expired", ["status": "expired", "payment_status": "unpaid", "subscription": .null]))
    return [
      ("open", open, "Waiting for confirmation"),
      ("no-payment", open + "&result=cancel", "No payment so far"),
      (
        "under-way", try checkout("late") { [$0.sessionEvent("completed", unpaid)] },
        "Your payment is on its way"
      ),
      ("paid", paid, "Payment received"), ("delivered", delivered, "Payment completed"),
      ("undelivered", refused, "Payment received"), ("unpaid", failed, "Payment not completed"),
      ("expired", "?session_id=cs_test_ended", "Checkout expired"),
      ("unknown", "", "Your way back to Example"),
    ]
  }
}

extension Browser {
  /// Requests pages with these preferred languages and this device.
  func speak(_ languages: String, userAgent: String = "Test") throws {
    try call(
      "Emulation.setUserAgentOverride",
      ["userAgent": .string(userAgent), "acceptLanguage": .string(languages)])
  }

  func heading() throws -> String { try text("document.querySelector('h1').textContent") }

  /// Whether the heading is this one; false while a page loads.
  func shows(_ heading: String) throws -> Bool {
    // A call fails when its page is replaced meanwhile.
    (try? self.heading()) == heading
  }

  /// The number of pages in the history.
  func historyLength() throws -> Int {
    guard case .array(let entries)? = try call("Page.getNavigationHistory")["entries"] else { return -1 }
    return entries.count
  }
}
