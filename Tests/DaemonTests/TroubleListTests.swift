// Which problems the faces list, in which order, and how the dashboard lists them.

import Domain
import Formats
import Testing

@testable import Service
@testable import Web

@Suite struct TroubleListTests {
  private static let now = Timestamp(unixMilliseconds: 1_795_168_800_000)

  private static func finding(
    _ title: String, _ urgency: Finding.Urgency, _ act: Finding.Act? = nil, next: String = "Run: it"
  ) -> Finding {
    Finding(.warning, .work, title, urgency, act: act, "it is so", next: next, app: "shop")
  }

  @Test("Customers who are being lost come first, an operator's pause last; a button replaces a command")
  func order() {
    let list = TroubleList(
      [Finding(line: .ok, .receiptd, "receiptd is ready"), Self.finding("A backup is old", .soon)],
      [
        Self.finding("Deliveries are paused", .intended, .resume, next: "Run: receiptctl apps resume shop"),
        Self.finding("A destination is down", .stopped, .retryNow),
        Self.finding("No events arrive", .losing, .open("events", ["outcome": "noted"])),
        Self.finding("A backup is old", .soon, next: "Run: it twice"),
      ], newFailures: ["web": 3], now: Self.now)
    let text = list.html.markup
    #expect(
      text.matches(of: #/<strong>([^<]*)<\/strong>/#).map { String($0.1) } == [
        "No events arrive", "A destination is down", "Receipts failed", "A backup is old",
        "Deliveries are paused",
      ])
    #expect(text.matches(of: #/<li class="pending">/#).count == 1, "the operator's own")
    let events = "/events?app=shop&amp;outcome=noted"
    for link in [events, "/apps/shop/retry-now", "/apps/shop/resume", "/failed"] {
      #expect(text.contains("href=\"\(link)\">"), "\(link)")
    }
    #expect(!text.contains("receiptctl apps resume"))
    #expect(text.contains("Run: it"), "no button makes a backup")
    #expect(!text.contains("it twice"), "what is reported is not repeated")
  }

  @Test("What is reported and what an alert finds is one problem, as urgent as the more urgent of them")
  func onePlace() {
    let found = Finding.problems(
      [
        Self.finding("Webhooks are refused", .impaired, next: "of one"),
        Self.finding("Webhooks are refused", .impaired, next: "of another"),
        Self.finding("A receipt is late", .impaired),
      ], [Self.finding("Webhooks are refused", .losing), Self.finding("A receipt is late", .soon)],
      now: Self.now)
    #expect(found.map(\.next) == ["of one", "of another", "Run: it"])
    #expect(found.map(\.urgency) == [.losing, .losing, .impaired])
  }

  @Test func `A failure comes before every warning, however urgent that is`() {
    let failure = Finding(.failure, .backup, "A backup failed", .soon, "it failed")
    let found = [Self.finding("A destination is down", .stopped), failure]
    #expect(Finding.byUrgency(found, now: Self.now) == [found[1], found[0]])
  }

  @Test("Of problems that are as urgent, failures come first, then what has lasted longest; all well is last")
  func ties() {
    func finding(_ level: Finding.Level, _ minutes: Int64) -> Finding {
      Finding(level, .work, "It is so", .soon, "it is so", since: Self.now - .minutes(minutes))
    }
    let found = [finding(.ok, 9), finding(.warning, 1), finding(.warning, 2), finding(.failure, 0)]
    #expect(Finding.byUrgency(found, now: Self.now) == [found[3], found[2], found[1], found[0]])
  }
}
