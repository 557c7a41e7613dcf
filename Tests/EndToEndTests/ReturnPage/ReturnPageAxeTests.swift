// The return page under axe-core, the rules that most accessibility audits use (WCAG 2.2, A and AA). It is in
// the Python package axe_core_python; without that, these tests are skipped.

import Formats
import FoundationEssentials
import TestSupport
import Testing

/// axe-core's script.
private enum Axe {
  static let script: String? = {
    guard let directory = try? TestFolder() else { return nil }
    let output = directory.file("path")
    let words = ["/usr/bin/env", "python3", "-c", "import axe_core_python as a; print(a.__path__[0])"]
    guard let process = try? ChildProcess(words, output: output), (try? process.end()) == 0,
      let folder = TextFile.read(output).split(separator: "\n").last
    else { return nil }
    let text = TextFile.read("\(folder)/axe.min.js")
    return text.isEmpty ? nil : text
  }()
}

@Suite(
  .withDaemonLog, .enabled(if: Browser.isInstalled, "\(Browser.missing)"),
  .enabled(if: Axe.script != nil, "axe_core_python is not installed: deploy/dev/deps browser"), .serialized)
struct ReturnPageAxeTests {
  @Test("No state of the page breaks a rule of axe-core, on a phone, at a computer, in light and dark mode")
  func everyState() throws {
    let script = try #require(Axe.script)
    try Relay.withReturnPage(page: ["support": "help@example.com", "accent": "#7a1fa2"]) { relay, _ in
      let checkouts = try relay.checkoutsInEveryState()
      let browser = try Browser()
      for view in [
        Browser.View("phone", 390, 844, isPhone: true), Browser.View("desktop-dark", 1440, 900, isDark: true),
      ] {
        try browser.use(view)
        for (name, query, _) in checkouts {
          for language in name == "undelivered" ? ["en", "ar", "ja"] : ["en"] {
            try browser.speak(
              language,
              userAgent: view.isPhone ? ReturnPageBrowserTests.iPhone : ReturnPageBrowserTests.windows)
            try browser.open(relay.returnURL(query))
            let violations = try violations(browser, script)
            #expect(violations.isEmpty, "\(name) \(view.name) \(language): \(violations)")
          }
        }
      }
    }
  }

  @Test func `axe-core finds a fault that is put into the page: the check can fail`() throws {
    let script = try #require(Axe.script)
    try Relay.withReturnPage { relay, _ in
      let browser = try Browser()
      try browser.open(relay.returnURL(""))
      _ = try browser.value(
        "document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content=600>')")
      #expect(try violations(browser, script).contains("meta-refresh"))
    }
  }

  private func violations(_ browser: Browser, _ script: String) throws -> String {
    _ = try browser.value("(() => { \(script)\n; return true })()")
    return try browser.text(
      """
      axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
        .then(result => result.violations
          .map(v => v.id + " " + v.nodes.map(n => n.target).join(" ")).join("; "))
      """)
  }
}
