// The dashboard in a real browser: its layout on a desktop and a phone, light and dark, its use with a
// keyboard and a screen reader, and a click that replays receipts.

import Domain
import Formats
import FoundationEssentials
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: Browser.isInstalled, "\(Browser.missing)"), .serialized)
struct DashboardBrowserTests {
  /// The id of the newest receipt of a kind.
  private func receipt(_ relay: Relay, _ change: (inout ReceiptFilter) -> Void) throws -> String {
    var filter = ReceiptFilter()
    change(&filter)
    let wanted = filter
    return try #require(try relay.read { try $0.outlines(wanted, limit: 1) }.first?.id.text)
  }

  @Test("Every page is complete on a desktop and a phone, in light and dark mode, with 60,000 receipts")
  func everyPage() throws {
    try Relay.withPast(receipts: 60_000, failed: 4000) { relay, _ in
      let base = "http://127.0.0.1:\(relay.admin.port)"
      let failed = try receipt(relay) { $0.reason = "http_422" }
      let delivered = try receipt(relay) { $0.state = .delivered }
      let browser = try Browser()
      let job = try startJob(base, browser)
      let context = try #require(
        try relay.read {
          try $0.contexts(ContextFilter(), now: Timestamp(unixMilliseconds: 0), limit: 1)
        }.first)
      let pages = [
        ("overview", "/"), ("receipts", "/receipts"), ("receipts-none", "/receipts?user=nobody"),
        ("receipts-hostile", "/receipts?app=web"), ("receipt-failed", "/receipts/\(failed)"),
        ("receipt-delivered", "/receipts/\(delivered)"), ("replay", "/receipts/\(failed)/replay"),
        ("cancel", "/receipts/\(failed)/cancel"), ("failed", "/failed"),
        ("failed-replay", "/failed/replay?app=shop&reason=http_422"), ("event", "/event?id=evt_77"),
        ("jobs", "/jobs"), ("audit", "/audit"), ("find", "/find"), ("find-none", "/find?q=nobody"),
        ("found", "/find?q=evt_1000"), ("error", "/receipts?state=none"), ("app", "/apps/shop"),
        ("app-down", "/apps/web"), ("app-pause", "/apps/shop/pause"), ("events", "/events"),
        ("contexts", "/contexts"), ("context", "/contexts/\(context.id)"),
        ("user", "/user?id=\(context.userID)"), ("complete", "/receipts/\(failed)/complete"),
        ("acknowledge", "/failed/acknowledge?app=shop&reason=http_422"), ("job", job),
        ("job-rate", "\(job)/rate"), ("alerts", "/alerts"), ("settings", "/settings"),
      ]
      for view in Browser.View.all {
        try browser.use(view)
        // Width and colours are independent: for most pages two views have both of each.
        for (name, path) in pages
        where view.isPhone == view.isDark || ["overview", "receipts", "receipt-failed"].contains(name) {
          try browser.open(base + path)
          let faults = try browser.faults("\(view.name) \(path)")
          #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
          #expect(try browser.text("document.title").hasSuffix("Receipt Relay"))
          try browser.keepPicture("\(name)-\(view.name)")
        }
      }
      let seconds = try #require(try relay.metric(#"receiptd_http_request_seconds_sum{route="dashboard"}"#))
      let count = try #require(try relay.metric(#"receiptd_http_request_seconds_count{route="dashboard"}"#))
      #expect(seconds / count < 0.1, "a page is made in less than 100 ms")
      try browser.printOnPaper()
      for (name, path) in pages where ["overview", "receipt-failed", "receipts", "job"].contains(name) {
        try browser.open(base + path)
        let hidden =
          "[...document.querySelectorAll('nav, form, iframe, .button')].every(e => !e.offsetParent)"
        #expect(try browser.value(hidden) == true, "\(path) is printed without controls")
        let fits = "(e => e.scrollWidth <= e.clientWidth)(document.documentElement)"
        #expect(try browser.value(fits) == true, "\(path)")
        try browser.keepPicture("\(name)-paper")
      }
      // The browser reports a page that answers 400.
      let complaints = browser.complaints.filter { !$0.contains("400 (Bad Request)") }
      #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
      #expect(browser.requests.allSatisfy { $0.hasPrefix(base + "/") }, "nothing is loaded from elsewhere")
    }
  }

  /// Starts a slow job with the dashboard's form, and returns the path of its page.
  private func startJob(_ base: String, _ browser: Browser) throws -> String {
    try browser.open("\(base)/failed/replay?app=shop&reason=http_422")
    _ = try browser.value("document.querySelector('#rate').value = '0.01'")
    try browser.follow("main button")
    return try browser.text("location.pathname")
  }

  @Test func `Names that are markup are shown as text`() throws {
    try Relay.withPast(receipts: 100, failed: 5) { relay, _ in
      let browser = try Browser()
      try browser.open("http://127.0.0.1:\(relay.admin.port)/receipts?app=web")
      let shown = try browser.value("[...document.querySelectorAll('tbody tr bdi')].map(e => e.textContent)")
        .text
      for user in Relay.hostileUsers where !user.contains("\u{202E}") {
        #expect(shown.contains(JSONValue.string(user).text.dropFirst().dropLast()), "\(user)")
      }
      #expect(!shown.contains("\u{202E}"))
      #expect(shown.contains("\u{FFFD}gnp.exe"))
      #expect(try browser.value("document.querySelectorAll('script, img, bdi h1').length").text == "0")
      #expect(try browser.text("document.title") == "Receipts · Receipt Relay")
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }

  @Test func `The keyboard reaches the content first, and the focus is visible`() throws {
    try Relay.withPast(receipts: 100, failed: 5) { relay, _ in
      let browser = try Browser()
      try browser.open("http://127.0.0.1:\(relay.admin.port)/")
      try browser.press("Tab")
      #expect(try browser.text("document.activeElement.textContent") == "Skip to the content")
      #expect(try browser.value("document.activeElement.getBoundingClientRect().left >= 0") == true)
      try browser.press("Enter")
      #expect(try browser.text("document.activeElement.id") == "content")
      try browser.press("Tab")
      #expect(try browser.value("document.activeElement.closest('main') != null") == true)
      #expect(try browser.text("getComputedStyle(document.activeElement).outlineStyle") == "solid")
      let things = try browser.accessibleThings()
      #expect(things.contains { $0.role == "rowheader" && $0.name == "shop" })
      #expect(things.contains { $0.role == "Iframe" && $0.name.contains("State of the relay") })
      try browser.open("http://127.0.0.1:\(relay.admin.port)/apps/shop")
      #expect(
        try browser.accessibleThings().contains {
          $0.role == "image" && $0.name.contains("deliveries and failures")
        })
    }
  }

  @Test func `The search box is named, and typing and Enter lead to the result`() throws {
    try Relay.withPast(receipts: 100, failed: 5) { relay, _ in
      let browser = try Browser()
      try browser.open("http://127.0.0.1:\(relay.admin.port)/jobs")
      #expect(try browser.accessibleThings().contains { $0.role == "searchbox" && !$0.name.isEmpty })
      _ = try browser.value("document.querySelector('.find input').focus()")
      try browser.type("evt_77")
      try browser.press("Enter")
      // The answer is a redirection, which takes a moment. Between two pages there is no document to ask.
      try waitUntil("the event's page") {
        (try? browser.text("document.querySelector('h1').textContent")) == "evt_77"
      }
      #expect(try browser.text("location.search") == "?id=evt_77")
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }

  @Test func `Buttons replay a receipt and a whole group, and both are in the audit`() throws {
    try Relay.withPast(receipts: 1000, failed: 50) { relay, destination in
      let base = "http://127.0.0.1:\(relay.admin.port)"
      let id = try receipt(relay) { $0.reason = "http_422" }
      let why = "fixed the <price>"
      let browser = try Browser()
      try browser.open("\(base)/receipts/\(id)")
      try browser.follow("main a.button")
      #expect(try browser.text("document.querySelector('h1').textContent") == "Replay this receipt?")
      _ = try browser.value("document.querySelector('#why').focus()")
      // The operator's reason. Where it is shown, the brackets must not become a tag.
      try browser.type(why)
      try browser.follow("main button")
      #expect(try browser.text("document.querySelector('.notice').textContent").contains("sent again"))
      #expect(try browser.text("location.pathname") == "/receipts/\(id)")
      _ = try destination.waitFor(requests: 1)

      try browser.open("\(base)/failed")
      try browser.follow("a[href='/failed/replay?app=shop&processor=stripe&reason=http_400']")
      #expect(try browser.text("document.querySelector('h1').textContent") == "Replay 10 receipts?")
      try browser.follow("main button")
      #expect(try browser.text("location.pathname").hasPrefix("/jobs/job_"))
      let job = try #require(try relay.read { try $0.jobs(JobFilter(), limit: 2) }.first)
      #expect(job.request.actor == "dashboard (127.0.0.1)")
      #expect(job.request.kind == .replay)

      let entries = try relay.read { try $0.audit(AuditFilter(), limit: 10) }.map(\.entry)
      #expect(entries.map(\.action) == ["receipts replay", "receipts replay"])
      try #require(entries.map(\.subject) == [job.id.text, id])
      #expect(entries[1].reason == why)
      #expect(entries.allSatisfy { $0.actor == "dashboard (127.0.0.1)" })
      try browser.open("\(base)/audit")
      #expect(try browser.text("document.querySelector('tbody').textContent").contains(why))
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }
}
