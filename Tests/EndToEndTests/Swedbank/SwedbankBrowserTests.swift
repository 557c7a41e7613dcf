// The pages on the way back from Swedbank Pay in a real browser: their layout, their button's link, and no
// complaints of the browser.

import Formats
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: Browser.isInstalled, "\(Browser.missing)"), .serialized)
struct SwedbankBrowserTests {
  private func check(_ browser: Browser, _ place: String, button: String, leadsTo target: String) throws {
    let faults = try browser.faults(place, landmarks: ["banner", "main"])
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    #expect(try browser.text("document.querySelector('a.button').getAttribute('href')") == target)
    #expect(try browser.text("document.querySelector('a.button').textContent") == button)
    #expect(
      try browser.value(
        "[...document.querySelectorAll('a')].every(e => e.getBoundingClientRect().height >= 44)") == true)
    #expect(try browser.value("document.querySelectorAll('script, img, form, iframe').length").text == "0")
    #expect(try browser.accessibleThings().contains { $0.role == "link" && $0.name == button })
  }

  @Test func `The Android page leads to the app with any address (SC01, SC02)`() throws {
    try withRelay(app: Swedbank.links()) { relay, _ in
      let base = "http://127.0.0.1:\(relay.outside.api.port)"
      let query = "package=com.example.app&x=%22%3E%3Cscript%3E%27&y={`;|^}"
      let intent =
        "intent://pay.example.com\(Swedbank.android)?\(query)#Intent;scheme=https;"
        + "action=com.swedbankpay.mobilesdk.VIEW_PAYMENTORDER;package=com.example.app;end;"
      let browser = try Browser()
      for view in Browser.View.all {
        try browser.use(view)
        try browser.open("\(base)\(Swedbank.android)?\(query)")
        try check(browser, "android \(view.name)", button: "Back to Kaffe & <Te>", leadsTo: intent)
        try browser.keepPicture("swedbank-android-\(view.name)")
      }
      // The page navigates to the app. Without an app for `intent:` the browser stays and complains about the
      // attempt.
      let others = browser.complaints.filter {
        !$0.contains("'intent://pay.example.com/") && !Self.isOfRefresh($0)
      }
      #expect(others.isEmpty, "\(others.joined(separator: "\n"))")
      #expect(
        browser.requests.allSatisfy {
          $0.hasPrefix("\(base)/") || $0.hasPrefix("intent://pay.example.com/")
        })
      #expect(try browser.text("location.href") == "\(base)\(Swedbank.android)?\(query)")
    }
  }

  /// Whether a complaint is about the page's cancelled refresh.
  private static func isOfRefresh(_ complaint: String) -> Bool {
    complaint.contains("BounceTrackingIssue")
      || ["net::ERR_ABORTED", "\"canceled\":true", "\"type\":\"Document\""].allSatisfy(complaint.contains)
  }

  @Test("The other pages have their texts and links, and the browser reports no error (SC24, SC25)")
  func pages() throws {
    try withRelay(app: Swedbank.links()) { relay, _ in
      let base = "http://127.0.0.1:\(relay.outside.api.port)"
      let callback = "\(Swedbank.origin)\(Swedbank.ios)?scheme=a&language=nb&x='%22&fallback=true"
      let encoded = callback.replacing("%", with: "%25").replacing("&", with: "%26")
      let browser = try Browser()
      for view in Browser.View.all {
        try browser.use(view)
        try browser.open("\(base)\(Swedbank.trampoline)?target=\(encoded)&language=nb-NO&app=Evil")
        try check(browser, "trampoline \(view.name)", button: "Tilbake til Kaffe & <Te>", leadsTo: callback)
        #expect(try browser.text("document.documentElement.lang") == "nb")
        #expect(try !browser.dom().contains("Evil"))
        try browser.keepPicture("swedbank-trampoline-\(view.name)")
        for page in ["complete", "cancel"] {
          try browser.open("\(base)\(Swedbank.root)\(page)?id=7")
          #expect(try browser.faults("\(page) \(view.name)", landmarks: ["banner", "main"]).isEmpty)
          // The relay does not know this payment, and the page says only that.
          let text = try browser.text("document.body.innerText")
          #expect(text.contains("cannot show the status"), "\(text)")
          #expect(text.contains("The checkout is finished") == (page == "complete"), "\(text)")
          #expect(text.contains("You have left the checkout") == (page == "cancel"), "\(text)")
          #expect(text.contains("Kaffe & <Te>"), "\(text)")
          #expect(!text.contains("7"), "\(text)")
          try browser.keepPicture("swedbank-\(page)-\(view.name)")
        }
      }
      #expect(browser.complaints.isEmpty, "\(browser.complaints.joined(separator: "\n"))")
      #expect(browser.requests.allSatisfy { $0.hasPrefix("\(base)/") }, "\(browser.requests)")
    }
  }

  @Test func `A browser is redirected from the payment URL to the page on the other host (SC07)`() throws {
    try withRelay(app: Swedbank.links()) { relay, _ in
      // The port is known now; one machine has two names.
      let port = relay.outside.api.port
      let (origin, page) = ("http://127.0.0.1:\(port)", "http://localhost:\(port)\(Swedbank.trampoline)")
      let app = Swedbank.links(origin: origin, page: page)
      relay.configuration = relay.configuration.merging(["apps": ["shop": app]])
      try relay.writeAndReload()
      let target = "\(Swedbank.ios)?scheme=shopapp&language=sv-SE&app=My%20Shop&id=1"
      try waitUntil("the new origin is in force") {
        try relay.ask(target).header("Location")?.hasPrefix(page) == true
      }
      let browser = try Browser()
      try browser.open(origin + target)
      #expect(try browser.text("location.origin + location.pathname") == page)
      #expect(try browser.text("document.documentElement.lang") == "sv")
      #expect(
        try browser.text("document.querySelector('a.button').href") == "\(origin)\(target)&fallback=true")
      #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    }
  }
}
