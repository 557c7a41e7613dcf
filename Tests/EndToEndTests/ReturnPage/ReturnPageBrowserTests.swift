// The return page in a real browser (SC24, PL24): its layout and its text on a phone and a desktop, its
// button's link, and its update when the state of the payment changes.

import Domain
import FoundationEssentials
import JSON
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: Browser.isInstalled, "\(Browser.missing)"), .serialized)
struct ReturnPageBrowserTests {
  private static let views = [
    Browser.View("phone-light", 390, 844, isPhone: true),
    Browser.View("phone-dark", 390, 844, isPhone: true, isDark: true),
    Browser.View("desktop-light", 1280, 800), Browser.View("desktop-dark", 1280, 800, isDark: true),
  ]
  private static let languages = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "nb", "da", "fi"]

  @Test("In every state it is complete on a phone and a desktop, in light and dark mode (SC24, PL24)")
  func everyState() throws {
    try Relay.withReturnPage { relay, _ in
      let checkouts = try relay.checkoutsInEveryState()
      let browser = try Browser()
      for view in Self.views {
        try browser.use(view)
        for (name, query, heading) in checkouts {
          try browser.speak("en")
          try browser.open(relay.returnURL(query))
          #expect(try browser.heading() == heading, "\(name)")
          #expect(try browser.text("document.title") == "\(heading) · Example")
          try expectWhole(browser, "\(name) \(view.name)")
          try browser.keepPicture("return-\(name)-\(view.name)")
        }
      }
      // The longest text, in every language, on the narrowest phone.
      let query = try #require(checkouts.first { $0.name == "undelivered" }?.query)
      for language in Self.languages {
        try browser.speak(language + "-XX,en;q=0.1")
        for view in [Self.views[0], Self.views[3], Browser.View("narrow", 320, 568, isPhone: true)] {
          try browser.use(view)
          try browser.open(relay.returnURL(query))
          #expect(try browser.text("document.documentElement.lang") == language)
          try expectWhole(browser, "\(language) \(view.name)")
          if view.name != "desktop-dark" { try browser.keepPicture("return-\(language)-\(view.name)") }
        }
        // Text of twice the size, on the narrowest screen (WCAG 2.2, 1.4.4 and 1.4.10).
        _ = try browser.value("document.documentElement.style.fontSize = '200%'")
        try expectWhole(browser, "\(language), twice as large")
      }
      #expect(browser.complaints.isEmpty, "\(browser.complaints.joined(separator: "\n"))")
      #expect(browser.requests.allSatisfy { $0.hasPrefix(relay.returnURL("")) || $0 == "data:," })
    }
  }

  private func expectWhole(_ browser: Browser, _ place: String) throws {
    let faults = try browser.faults(place, landmarks: ["banner", "main"])
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    let small = try browser.text(
      """
      [...document.querySelectorAll("a")].filter(e => e.getBoundingClientRect().height < 44
        || e.getBoundingClientRect().width < 44).map(e => e.textContent).join(", ")
      """)
    #expect(small.isEmpty, "\(place): smaller than 44 pixels: \(small)")
    #expect(try browser.value("document.querySelectorAll('script, img, form, iframe').length").text == "0")
    let things = try browser.accessibleThings()
    #expect(things.contains { $0.role == "status" })
    #expect(things.contains { $0.role == "heading" })
  }

  @Test("It shows the payment and the delivery automatically, without scripts (PL24)")
  func updates() throws {
    try Relay.withReturnPage(retry: "300ms") { relay, destination in
      destination.answerAll(.status(503))
      let checkout = Checkout("waits")
      let id = try relay.post(checkout)
      let browser = try Browser()
      try browser.call("Emulation.setScriptExecutionDisabled", ["value": true])
      try browser.speak("de")
      try browser.open(relay.returnURL("?context_id=\(id)&result=success"))
      #expect(try browser.heading() == "Warten auf Bestätigung")
      let entries = try browser.historyLength()

      try relay.ingest(checkout.completed)
      try waitUntil("the page says that the payment has come") {
        try browser.shows("Zahlung eingegangen")
      }
      #expect(try browser.text("document.querySelector('meta[http-equiv]').content") == "3")

      destination.answerAll(.taken)
      try relay.reaches(.delivered, checkout.subscription)
      try waitUntil("the page says that the app knows") { try browser.shows("Zahlung abgeschlossen") }
      #expect(try browser.value("document.querySelector('meta[http-equiv]') == null") == true)
      #expect(try browser.text("location.search") == "?context_id=\(id)&result=success")
      #expect(try browser.historyLength() == entries, "the way back leads out of it with one step")
    }
  }

  @Test("It is the same after a reload and after the browser's back button")
  func again() throws {
    try Relay.withReturnPage { relay, _ in
      let checkout = Checkout("again")
      let id = try relay.post(checkout)
      try relay.ingest(checkout.completed)
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
        ("Mozilla/5.0 (X11; Linux x86_64)", "https://\(target)"),
      ] {
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

  @Test("An app's name that is markup is shown as text")
  func hostileName() throws {
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
