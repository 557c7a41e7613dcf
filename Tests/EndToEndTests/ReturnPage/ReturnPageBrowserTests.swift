// The return page in a real browser (SC24, PL24): its layout and its text on a phone and a desktop, its
// button's link, and its update when the state of the payment changes.

import Domain
import Formats
import FoundationEssentials
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: Browser.isInstalled, "\(Browser.missing)"), .serialized)
struct ReturnPageBrowserTests {
  static let iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1"
  static let windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0 Safari/537.36"

  private static let views = [
    Browser.View("phone-light", 390, 844, isPhone: true),
    Browser.View("phone-dark", 390, 844, isPhone: true, isDark: true),
    Browser.View("landscape", 844, 390, isPhone: true),
    Browser.View("desktop-light", 1440, 900), Browser.View("desktop-dark", 1440, 900, isDark: true),
  ]
  private static let languages = [
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "nb", "da", "fi", "ar", "he", "ja", "ko", "zh-Hans",
  ]

  @Test("In every state it is complete on a phone and a desktop, in light and dark mode (SC24, PL24)")
  func everyState() throws {
    try Relay.withReturnPage { relay, _ in
      let checkouts = try relay.checkoutsInEveryState()
      let browser = try Browser()
      for view in Self.views {
        try browser.use(view)
        for (name, query, heading) in checkouts {
          try browser.speak("en", userAgent: view.isPhone ? Self.iPhone : Self.windows)
          try browser.open(relay.returnURL(query))
          #expect(try browser.heading() == heading, "\(name)")
          #expect(try browser.text("document.title") == "\(heading) · Example")
          try expectWhole(browser, "\(name) \(view.name)")
          try browser.keepPicture("return-\(name)-\(view.name)")
        }
      }
      // The longest text, in every language, on a desktop and the narrowest phone.
      let query = try #require(checkouts.first { $0.name == "undelivered" }?.query)
      for language in Self.languages {
        for view in [Self.views[4], Browser.View("narrow", 320, 568, isPhone: true)] {
          try browser.speak(language + "-XX,en;q=0.1", userAgent: view.isPhone ? Self.iPhone : Self.windows)
          try browser.use(view)
          try browser.open(relay.returnURL(query))
          #expect(try browser.text("document.documentElement.lang") == language)
          try expectWhole(browser, "\(language) \(view.name)")
          try browser.keepPicture("return-\(language)-\(view.name)")
        }
        // Text of twice the size, on the narrowest screen (WCAG 2.2, 1.4.4 and 1.4.10).
        _ = try browser.value("document.documentElement.style.fontSize = '200%'")
        try expectWhole(browser, "\(language), twice as large")
      }
      #expect(browser.complaints.isEmpty, "\(browser.complaints.joined(separator: "\n"))")
      #expect(browser.requests.allSatisfy { $0.hasPrefix(relay.returnURL("")) })
    }
  }

  private func expectWhole(_ browser: Browser, _ place: String) throws {
    let faults = try browser.faults(place, landmarks: ["banner", "main"])
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    let small = try browser.text(
      """
      [...document.querySelectorAll("a")].filter(e => e.getClientRects().length)
        .filter(e => e.getBoundingClientRect().height < 44
        || e.getBoundingClientRect().width < 44).map(e => e.textContent).join(", ")
      """)
    #expect(small.isEmpty, "\(place): smaller than 44 pixels: \(small)")
    #expect(
      try browser.value("document.querySelectorAll('form, iframe, meta[http-equiv]').length").text == "0")
    let things = try browser.accessibleThings()
    #expect(things.contains { $0.role == "status" })
    #expect(things.contains { $0.role == "heading" })
  }

  @Test("It shows the payment and the delivery automatically, without a reload (PL24, WCAG failure F41)")
  func updates() throws {
    try Relay.withReturnPage(retry: "300ms") { relay, destination in
      destination.answerAll(.status(503))
      let checkout = Checkout("waits")
      let id = try relay.post(checkout)
      let browser = try Browser()
      try browser.speak("de", userAgent: Self.iPhone)
      try browser.open(relay.returnURL("?context_id=\(id)&result=success"))
      #expect(try browser.heading() == "Warten auf Bestätigung")
      let entries = try browser.historyLength()
      // A reload would lose both; screen readers keep their place as the focus does.
      _ = try browser.value("window.isTheSame = true")
      try browser.press("Tab")
      #expect(try browser.text("document.activeElement.textContent") == "Zurück zu Example")

      try relay.ingest(checkout.completed)
      try waitUntil("the page says that the payment has come") {
        try browser.shows("Zahlung eingegangen")
      }
      #expect(try browser.text("document.querySelector('main').dataset.seconds") == "3")
      #expect(try browser.text("document.title") == "Zahlung eingegangen · Example")

      destination.answerAll(.taken)
      try relay.reaches(.delivered, checkout.subscription)
      try waitUntil("the page says that the app knows") { try browser.shows("Zahlung abgeschlossen") }
      #expect(try browser.text("document.querySelector('main').dataset.seconds") == "")
      #expect(try browser.value("window.isTheSame") == true)
      #expect(try browser.text("document.activeElement.textContent") == "Zurück zu Example")
      #expect(try browser.text("document.querySelector('#state').getAttribute('role')") == "status")
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
      #expect(try browser.text("location.search") == "?context_id=\(id)&result=success")
      #expect(try browser.historyLength() == entries, "the way back leads out of it with one step")
    }
  }

  @Test("While the relay does not answer it waits longer and shows its link, until the relay answers again")
  func failures() throws {
    try Relay.withReturnPage { relay, _ in
      let browser = try Self.impatient()
      try browser.open(relay.returnURL("?context_id=\(relay.post(Checkout("fails")))"))
      func isShown() throws -> Bool {
        try browser.value("document.querySelector('#again').getClientRects().length > 0") == true
      }
      func pauses() throws -> String { try browser.text("window.pauses.splice(0).join(' ')") }
      #expect(try !isShown())
      try browser.call("Network.setBlockedURLs", ["urls": ["*"]])
      try waitUntil("it has waited a minute") {
        try browser.value("Math.max(...window.pauses) == 60000") == true
      }
      #expect(try isShown())
      // Before the first failure the pauses are those of the page; then they double up to a minute.
      #expect(try pauses().contains(#/^3000( 3000)* 6000 12000 24000 48000 60000/#))
      try browser.keepPicture("return-stuck")

      try browser.call("Network.setBlockedURLs", ["urls": []])
      try waitUntil("the link is gone") { try !isShown() }
      _ = try pauses()
      try waitUntil("it has asked again") { try browser.value("window.pauses.length > 1") == true }
      #expect(try pauses().wholeMatch(of: #/3000( 3000)+/#) != nil)
    }
  }

  @Test func `It leaves a translated text alone until the state changes, in old browsers, too`() throws {
    try Relay.withReturnPage { relay, _ in
      let checkout = Checkout("translated")
      let browser = try Self.impatient()
      try browser.open(relay.returnURL("?context_id=\(relay.post(checkout))"))
      _ = try browser.value("document.querySelector('h1').textContent = 'Translated'")
      _ = try browser.value("window.pauses = []")
      try waitUntil("it has asked twice") { try browser.value("window.pauses.length > 1") == true }
      #expect(try browser.heading() == "Translated")
      try relay.ingest(checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      try waitUntil("it shows the new state") { try browser.shows("Payment completed") }
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }

  /// A browser in which each pause of a page takes a moment and has its greatest length, which
  /// `window.pauses` has in milliseconds. It lacks what Safari 15 and WebViews before Chromium 103 lack.
  private static func impatient() throws -> Browser {
    let browser = try Browser()
    try browser.speak("en", userAgent: iPhone)
    try browser.call(
      "Page.addScriptToEvaluateOnNewDocument",
      [
        "source": """
        window.pauses = [];
        Math.random = () => 1;
        const later = window.setTimeout;
        window.setTimeout = (work, pause) => {
          if (work.name !== 'check') return later(work, pause);
          window.pauses.push(pause);
          return later(work, 50);
        };
        delete AbortSignal.timeout;
        delete AbortSignal.any;
        delete Element.prototype.replaceChildren;
        """
      ])
    return browser
  }

  @Test func `Without scripts, a link brings it up to date`() throws {
    try Relay.withReturnPage { relay, _ in
      let checkout = Checkout("scriptless")
      let id = try relay.post(checkout)
      let browser = try Browser()
      try browser.call("Emulation.setScriptExecutionDisabled", ["value": true])
      try browser.speak("en", userAgent: Self.iPhone)
      try browser.use(Self.views[0])
      try browser.open(relay.returnURL("?context_id=\(id)"))
      #expect(try browser.heading() == "Waiting for confirmation")
      #expect(try browser.text("getComputedStyle(document.querySelector('.note')).display") == "none")
      try expectWhole(browser, "without scripts")
      try browser.keepPicture("return-scriptless")
      try relay.ingest(checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      try browser.follow("#again a")
      #expect(try browser.heading() == "Payment completed")
      #expect(try browser.text("location.search") == "?context_id=\(id)")
    }
  }

  @Test func `It is the same after a reload and after the browser's back button`() throws {
    try Relay.withReturnPage { relay, _ in
      let checkout = Checkout("again")
      let id = try relay.buy(checkout)
      try relay.reaches(.delivered, checkout.subscription)
      let browser = try Browser()
      let url = relay.returnURL("?context_id=\(id)")
      try browser.open(url)
      let first = try browser.dom()
      try browser.open(url)
      #expect(try browser.dom() == first)
      try browser.open("about:blank")
      try browser.goBack()
      try waitUntil("the page is there again") { try browser.shows("Payment completed") }
      #expect(try browser.dom() == first)
      #expect(try relay.count("contexts") == 1)
      #expect(try relay.count("events") == 1)
    }
  }

  @Test(
    "The keyboard reaches the button first, and its link fits the device (PL24)")
  func button() throws {
    try Relay.withReturnPage { relay, _ in
      let id = try relay.post(Checkout("button"))
      let target = "pay.example.com/v1/shop/return?context_id=\(id)"
      let browser = try Browser()
      for (agent, href) in [
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)", "https://\(target)"),
        (
          "Mozilla/5.0 (Linux; Android 15; Pixel 9)",
          "intent://\(target)#Intent;scheme=https;package=com.example.app;"
            + "S.browser_fallback_url=https%3A%2F%2Fplay.google.com%2Fstore;end"
        ),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "https://\(target)"),
      ] {
        // A Mac with a touch screen is an iPad.
        try browser.use(Self.views[0])
        try browser.call("Emulation.setTouchEmulationEnabled", ["enabled": true])
        try browser.speak("sv", userAgent: agent)
        try browser.open(relay.returnURL("?context_id=\(id)"))
        try browser.press("Tab")
        #expect(try browser.text("document.activeElement.textContent") == "Tillbaka till Example")
        #expect(try browser.text("document.activeElement.getAttribute('href')") == href)
        #expect(try browser.text("getComputedStyle(document.activeElement).outlineStyle") == "solid")
        let others = try browser.value(
          "[...document.querySelectorAll('li a')].map(e => e.getAttribute('href'))"
        ).text
        let isAndroid = agent.contains("Android")
        #expect(others.contains("exampleapp://\(target)") != isAndroid)
        #expect(others.contains("https://apps.apple.com/app/id1") != isAndroid)
      }
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }

  @Test func `An app's name that is markup is shown as text`() throws {
    let name = "</title><script>document.title='broken'</script><h1>\"'&"
    try Relay.withReturnPage(name: name) { relay, _ in
      let browser = try Browser()
      try browser.open(relay.returnURL("?context_id=%22%3E%3Cimg%20src=x%3E"))
      #expect(try browser.heading() == "Your way back to \(name)")
      #expect(try browser.text("document.querySelector('header').textContent") == name)
      try expectWhole(browser, "a hostile name")
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }
}
