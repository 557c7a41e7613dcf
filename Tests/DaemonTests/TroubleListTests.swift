// How the dashboard lists what needs an operator.

import Config
import Domain
import Formats
import Testing

@testable import Service
@testable import Web

@Suite struct TroubleListTests {
  private static let now = Timestamp(unixMilliseconds: 1_795_168_800_000)

  @Test("Each title has two to eight words", arguments: AlertCondition.forms)
  func titles(_ condition: AlertCondition) {
    for level in [Finding.Level.warning, .failure] {
      let title = TroubleText(Finding(level, .work, "", alert: condition)).title
      #expect((2...8).contains(title.split(separator: " ").count), "\(title)")
    }
  }

  @Test("Customers who are being lost come first, an operator's pause last; a button replaces a command")
  func order() throws {
    func finding(_ condition: AlertCondition, _ next: String) -> Finding {
      Finding(.warning, .work, "it is so", next: next, app: "shop", alert: condition)
    }
    let list = TroubleList(
      [
        finding(.appPaused, "Run: receiptctl apps resume shop"),
        finding(.breakerOpen, "To watch: receiptctl stats"),
        finding(.noEvents(over: .minutes(30)), "Run: receiptctl stats"),
        finding(.backupOld(over: .days(1)), "Run: receiptctl db backup"),
        finding(.backupOld(over: .days(1)), "Run: it twice"),
        Finding(.ok, .receiptd, "receiptd is ready"),
      ], newFailures: ["web": 3], now: Self.now)
    let text = list.html.markup
    let titles = text.matches(of: #/<strong>([^<]*)<\/strong>/#).map { String($0.1) }
    #expect(
      titles == [
        "No events arrive", "A destination is down", "Failed receipts are new", "The last backup is old",
        "Deliveries are paused by an operator",
      ])
    #expect(text.contains("<li class=\"pending\">"))
    for link in ["/events?app=shop", "/apps/shop/retry-now", "/apps/shop/resume", "/failed"] {
      #expect(text.contains("href=\"\(link)\">"), "\(link)")
    }
    #expect(!text.contains("receiptctl stats"))
    #expect(!text.contains("receiptctl apps resume"))
    #expect(text.contains("receiptctl db backup"), "no button makes a backup")
  }
}
