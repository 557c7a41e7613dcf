// The return page at a computer: a camera reads its code, and it has no button that opens nothing. What a
// merchant adds to it: the support finds a purchase by the reference, and the colours and the logo are there.

import Domain
import Formats
import FoundationEssentials
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: Browser.isInstalled, "\(Browser.missing)"), .serialized)
struct ReturnPageComputerTests {
  private static let desktop = Browser.View("desktop", 1440, 900)
  /// Reads codes in pictures: Debian's package zbar-tools.
  private static let reader = "/usr/bin/zbarimg"

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: reader), "zbarimg is not installed"),
    arguments: [false, true])
  func `A camera reads the link to the app from the code, in light and in dark mode`(isDark: Bool) throws {
    try Relay.withReturnPage { relay, _ in
      let id = try relay.post(Checkout("code"))
      let browser = try Browser()
      try browser.use(Browser.View("computer", 1440, 900, isDark: isDark))
      try browser.speak("en", userAgent: ReturnPageBrowserTests.windows)
      try browser.open(relay.returnURL("?context_id=\(id)"))
      #expect(try browser.value("document.querySelector('.button') == null") == true)
      let things = try browser.accessibleThings()
      #expect(things.contains { $0.role == "image" && $0.name == "QR code that opens Example" })
      let output = relay.directory.file("code.txt")
      let picture = try browser.storePicture("return-code-\(isDark ? "dark" : "light")")
      #expect(try ChildProcess([Self.reader, "--quiet", "--raw", picture], output: output).end() == 0)
      #expect(
        TextFile.read(output).contains("https://pay.example.com/v1/shop/return?context_id=\(id)"))
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }

  @Test func `A Mac with a mouse shows the code, and the same page on a touch screen the button`() throws {
    try Relay.withReturnPage { relay, _ in
      let id = try relay.post(Checkout("either"))
      let browser = try Browser()
      try browser.speak("en", userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15")
      func shown() throws -> String {
        try browser.open(relay.returnURL("?context_id=\(id)"))
        return try browser.text(
          "[...document.querySelectorAll('.here, .phone')].filter(e => e.getClientRects().length)"
            + ".map(e => e.className).join(' ')")
      }
      try browser.use(Self.desktop)
      let hasMouse = try browser.value("matchMedia('(hover:hover) and (pointer:fine)').matches") == true
      // Without a mouse, only the part on the tablet is shown here.
      if hasMouse { #expect(try shown() == "phone") }
      try browser.use(Browser.View("tablet", 820, 1180, isPhone: true))
      try browser.call("Emulation.setTouchEmulationEnabled", ["enabled": true, "maxTouchPoints": 5])
      #expect(try shown() == "here")
      try browser.keepPicture("return-tablet")
    }
  }

  @Test func `The support finds the purchase by the reference that the page shows`() throws {
    try Relay.withReturnPage(page: ["support": "help@example.com"]) { relay, _ in
      let checkout = Checkout("found")
      let id = try relay.post(checkout)
      let browser = try Browser()
      try browser.speak("en", userAgent: ReturnPageBrowserTests.iPhone)
      try browser.use(Browser.View("phone", 390, 844, isPhone: true))
      func find(from query: String) throws -> (reference: String, found: String) {
        try browser.open(relay.returnURL(query))
        let reference = try browser.text("document.querySelector('code').textContent")
        #expect(
          try browser.text("document.querySelector('#help a').getAttribute('href')")
            == "mailto:help@example.com?subject=Example%20%C2%B7%20\(reference)")
        let output = relay.directory.file("found-\(reference)")
        let command = relay.receiptctlCommand + ["find", reference]
        #expect(try ChildProcess(command, output: output).end() == 0)
        return (reference, TextFile.read(output))
      }
      let before = try find(from: "?context_id=\(id)")
      #expect("ctx_\(before.reference)" == id)
      #expect(before.found.contains(id), "\(before.found)")

      try relay.ingest(checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      let after = try find(from: "?session_id=\(checkout.session)")
      let receipt = "rcp_\(after.reference)"
      #expect(try relay.receipts().map { $0.receipt?.id.text } == [receipt])
      #expect(after.found.contains(receipt), "\(after.found)")
    }
  }

  @Test func `The logo, the colour and what was bought are on the page`() throws {
    let svg = """
      <svg xmlns="http://www.w3.org/2000/svg" width="160" height="40" viewBox="0 0 160 40">
      <circle cx="20" cy="20" r="18" fill="#7a1fa2"/>
      <rect x="50" y="12" width="100" height="16" fill="#7a1fa2"/>
      </svg>
      """
    let page: JSONValue = ["support": "https://example.com/help", "logo": "logo.svg", "accent": "#7a1fa2"]
    try Relay.withReturnPage(page: page) { relay in
      try Data(svg.utf8).write(to: URL(filePath: relay.directory.file("logo.svg")))
    } _: { relay, _ in
      let checkout = Checkout("looks")
      let id = try relay.post(checkout)
      try relay.ingest(checkout.sessionEvent("completed", ["amount_total": 4999, "currency": "eur"]))
      let line: JSONValue = [
        "description": "1 × Premium (at €49.99 / year)",
        "price": ["id": .string(checkout.price), "object": "price"],
      ]
      try relay.ingest(checkout.invoiceEvent("paid", ["lines": ["object": "list", "data": [line]]]))
      try relay.reaches(.delivered, checkout.subscription)
      let browser = try Browser()
      for view in [
        Browser.View("phone", 390, 844, isPhone: true),
        Browser.View("dark", 390, 844, isPhone: true, isDark: true),
        Browser.View("landscape", 844, 390, isPhone: true), Self.desktop,
      ] {
        for language in ["en", "ar", "ja"] {
          try browser.use(view)
          try browser.speak(
            language,
            userAgent: view.isPhone ? ReturnPageBrowserTests.iPhone : ReturnPageBrowserTests.windows)
          try browser.open(relay.returnURL("?context_id=\(id)"))
          let faults = try browser.faults("\(language) \(view.name)", landmarks: ["banner", "main"])
          #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
          try browser.keepPicture("return-looks-\(language)-\(view.name)")
        }
      }
      try browser.use(Self.desktop)
      try browser.speak("en", userAgent: ReturnPageBrowserTests.iPhone)
      try browser.open(relay.returnURL("?context_id=\(id)"))
      #expect(try browser.value("document.querySelector('header img').naturalWidth") == 160)
      #expect(
        try browser.text("getComputedStyle(document.querySelector('.button')).backgroundColor")
          == "rgb(122, 31, 162)")
      let details = try browser.text("[...document.querySelectorAll('dd')].map(e => e.textContent).join('|')")
      #expect(details.hasPrefix("1 × Premium (at €49.99 / year)|€49.99|"), "\(details)")
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }
}
