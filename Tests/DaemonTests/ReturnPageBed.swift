// A relay with a return page, checkouts in every state, and a parsed page. One thread.

import Domain
import Formats
import Store
import TestSupport
import Testing

@testable import Config
@testable import HTTPServer
@testable import Web

final class ReturnPageBed {
  let clock = ManualClock()
  let bench: Bench
  private let server: Server

  init() throws {
    let join = JoinPolicy(waitForContext: .zero, waitForPayment: .hours(1))
    var (shop, other) = (Bench.app(join: join), Bench.app("other"))
    shop.links = try Self.links()
    other.links = .init(origin: try WebOrigin("https://pay.example.com"))
    bench = try Bench([shop, other], clock: clock, isStarted: false)
    try bench.startHousekeeping()
    server = try bench.serve()
  }

  deinit { server.stop(grace: .zero) }

  static func links() throws -> AppConfiguration.Links {
    let fingerprint = try CertificateFingerprint(String(repeating: "AB", count: 32))
    return .init(
      origin: try WebOrigin("https://pay.example.com"),
      ios: .init(
        appIDs: [try AppleAppID("ABCDE12345.com.example.app")], scheme: try CustomScheme("exampleapp")),
      android: .init(packages: [
        .init(name: try PackageName("com.example.app"), fingerprints: [fingerprint])
      ]),
      returnPage: .init(
        name: "Example", iosStore: "https://apps.apple.com/app/id1",
        androidStore: "https://play.google.com/store/apps/details?id=com.example.app"))
  }

  // MARK: Checkouts

  /// Stores an event of the session `cs_test_n`, which sells `sub_n` to `user-n`.
  func buy(_ number: Int, _ seen: Observations, event: String = "a") throws {
    let report = PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_\(number)"), sessionID: "cs_test_\(number)",
      observations: seen, clientReference: "user-\(number)", prices: ["price_1"], happenedAt: bench.now)
    try bench.store(
      IngestEvent(
        app: "shop", processor: "stripe", eventID: "evt_\(number)_\(event)", type: "test",
        body: Array("{}".utf8), content: .report(report, keep: true)))
  }

  private func deliver(_ number: Int, _ decision: Delivery.Decision) throws {
    let record = try #require(try bench.receipt(number))
    let report = AttemptReport(
      startedAt: bench.now, duration: .milliseconds(1), status: nil, error: "test", isAmbiguous: false,
      response: [])
    try bench.store(RecordAttempt(of: record.receiptID, app: "shop", report: report, decision: decision))
  }

  /// A checkout for each outcome that the store can have, with the query for it.
  func everyState() throws -> [(ReturnOutcome, String)] {
    let expired = try bench.post(1)
    let neverPaid = try bench.post(10)
    try buy(10, .promised)
    clock.advance(.milliseconds(86_400_001))
    try bench.store(EndWaits())
    var ids: [Int: ContextID] = [:]
    for number in 2...8 { ids[number] = try bench.post(number) }
    try buy(3, .promised)
    for number in [4, 5, 6, 8] { try buy(number, .paid) }
    try deliver(5, .delivered(importID: "imp"))
    try deliver(6, .failed(.status(422)))
    try buy(7, .promised)
    try buy(7, .failed, event: "b")
    let receipt = try #require(try bench.receipt(8)?.receipt?.id)
    try bench.store(CancelReceipt(id: receipt, note: "test"))
    // A session that ended before any payment.
    try buy(9, .expired)
    let outcomes: [Int: ReturnOutcome] = [
      2: .waiting, 3: .underWay, 4: .paid, 5: .delivered, 6: .undelivered, 7: .unpaid, 8: .cancelled,
    ]
    var found = outcomes.sorted { $0.key < $1.key }.map { ($0.value, "?context_id=\(ids[$0.key] ?? "")") }
    found += [(.expired, "?context_id=\(expired)"), (.unknown, "?context_id=nonsense")]
    found.append((.noPaymentYet, "?context_id=\(ids[2] ?? "")&result=cancel"))
    for (number, outcome) in outcomes where number > 2 {
      let bySession = try page("?session_id=cs_test_\(number)").markup
      #expect(try bySession == page("?context_id=\(ids[number] ?? "")").markup, "\(outcome)")
    }
    let words = PageLanguage.en.words
    #expect(try page("?session_id=cs_test_9").heading == words[.expired].heading.text(app: "Example"))
    // The same page as a failed payment, although this receipt failed and the other one was cancelled.
    #expect(try bench.receipt(10)?.receipt?.state == .failed)
    #expect(try page("?context_id=\(neverPaid)").heading == words[.unpaid].heading.text(app: "Example"))
    return found
  }

  // MARK: The page

  func page(
    _ query: String, app: String = "shop", language: String = "en", method: String = "GET"
  ) throws -> Page {
    let client = try RawClient(port: server.port)
    try client.send(
      "\(method) /v1/\(app)/return\(query) HTTP/1.1\r\nHost: evil.test\r\nX-Forwarded-Host: evil.test\r\n"
        + "Accept-Language: \(language)\r\nUser-Agent: Test (iPhone)\r\nContent-Length: 0\r\n\r\n")
    let reply = try client.reply(hasBody: method != "HEAD")
    let page = Page(reply: reply)
    #expect(!page.markup.contains("evil.test"), "addresses are made of the configuration alone (SC06)")
    return page
  }

  struct Page {
    let reply: RawClient.Reply

    var markup: String { String(decoding: reply.body, as: UTF8.self) }
    var heading: String { Self.withoutTags(between("<h1>", "</h1>")) }
    var title: String { between("<title>", "</title>").plain }
    /// The visible text.
    var text: String {
      Self.withoutTags(
        between("<body>", "</main>").replacing("<bdi>", with: "").replacing("</bdi>", with: ""), gap: " ")
    }
    /// What the page's script goes by.
    var refreshSeconds: Int? { Int(between("data-seconds=\"", "\"")) }
    var script: String? { markup.contains("<script>") ? between("<script>", "</script>") : nil }
    var links: [String] {
      var (links, rest) = ([String](), markup[...])
      while let start = rest.firstRange(of: "<a ")?.upperBound {
        rest = rest[start...]
        guard let href = rest.firstRange(of: "href=\"") else { break }
        links.append(String(rest[href.upperBound...].prefix { $0 != "\"" }).plain)
      }
      return links
    }
    /// The head without fields that differ between answers.
    var stableHead: String {
      reply.head.split(separator: "\r\n").filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("X-Request-Id:") }
        .joined(separator: "\n")
    }

    private static func withoutTags(_ markup: String, gap: String = "") -> String {
      var (text, isTag) = ("", false)
      for character in markup {
        if character == "<" { isTag = true }
        if !isTag { text.append(character) }
        if character == ">" {
          isTag = false
          text += gap
        }
      }
      return text.plain
    }

    func between(_ start: String, _ end: String) -> String {
      guard let from = markup.firstRange(of: start)?.upperBound,
        let to = markup[from...].firstRange(of: end)?.lowerBound
      else { return "" }
      return String(markup[from..<to])
    }
  }
}

extension String {
  fileprivate var plain: String {
    replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&#39;", with: "'")
      .replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
  }
}
