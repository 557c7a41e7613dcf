// Numbers change in a real browser without any effect on the page around them.

import Formats
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: Browser.isInstalled, "\(Browser.missing)"), .serialized)
struct DashboardLiveBrowserTests {
  /// What a reload of the page would change: the focus, the scroll position, what was typed and where, a mark
  /// in the document, and the history.
  private static let state = """
    JSON.stringify([document.activeElement.name || document.activeElement.getAttribute("href"), scrollY,
      document.querySelector(".find input").value, document.querySelector(".find input").selectionStart,
      window.mark, history.length])
    """

  @Test func `The frame of the numbers is as high as they are, at every width`() throws {
    try Relay.withPast(receipts: 200, failed: 50) { relay, _ in
      let browser = try Browser()
      for width in [390, 700, 1100, 1440] {
        try browser.use(Browser.View("\(width)", width, 900))
        try browser.open("http://127.0.0.1:\(relay.admin.port)/")
        let hidden = """
          (e => e.contentDocument.querySelector(".numbers").getBoundingClientRect().bottom - e.clientHeight)(
            document.querySelector(".live-numbers iframe"))
          """
        let pixels = try #require(Double(try browser.value(hidden).text))
        #expect((-16...0).contains(pixels), "\(width)")
      }
    }
  }

  @Test("The frames reload, and focus, scroll position, a half-typed word and the history stay")
  func reloads() throws {
    try Relay.withPast(receipts: 200, failed: 50) { relay, _ in
      let base = "http://127.0.0.1:\(relay.admin.port)"
      let browser = try Browser()
      try browser.use(Browser.View("small", 400, 300))
      try browser.open("\(base)/failed/replay?app=shop&reason=http_422")
      _ = try browser.value("document.querySelector('#rate').value = '0.01'")
      try browser.follow("main button")
      let path = try browser.text("location.pathname")
      #expect(path.hasPrefix("/jobs/job_"))
      func reloads() -> Int { browser.requests.filter { $0 == "\(base)/live\(path)" }.count }

      for focus in [".find input", "main a.button"] {
        _ = try browser.value(
          "document.querySelector('\(focus)').focus({preventScroll: true}); window.mark = 'here'")
        if focus == ".find input" { try browser.type("half a wo") }
        _ = try browser.value("scrollTo(0, 120)")
        let before = try browser.text(Self.state)
        #expect(before.contains("half a wo"))
        #expect(before.contains("120"))
        let count = reloads()
        try waitUntil("the job's frame has reloaded") {
          _ = try browser.text("document.title")
          return reloads() >= count + 2
        }
        #expect(try browser.text(Self.state) == before)
      }
      // A frame has no body while it reloads.
      try waitUntil("the job's frame has its numbers") {
        try browser.text("frames[frames.length - 1].document.body?.innerText ?? ''").contains("receipts")
      }

      try browser.open("\(base)\(path)?live=off")
      #expect(try browser.text("location.search") == "")
      #expect(try browser.value("document.querySelectorAll('iframe').length") == 0)
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }
}
