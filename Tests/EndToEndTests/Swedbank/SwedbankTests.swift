// Swedbank Pay's payment URL helpers over raw sockets: each response byte for byte, and each refusal.

import CheckoutKit
import Formats
import FoundationEssentials
import Testing

@Suite(.withDaemonLog) struct SwedbankTests {
  private func withHelpers(_ changes: JSONValue = [:], _ body: (Relay) throws -> Void) throws {
    try withRelay(app: Swedbank.links(changes)) { relay, _ in try body(relay) }
  }

  @Test func `The Android page leads to the app with the unchanged request target (SC01, SC02)`() throws {
    try withHelpers { relay in
      for query in [
        "package=your.ecom.app&id=abb50c53-53c1-4138", "id=1&foo=b%20r%2B+%e2&package=your.ecom.app",
        "a='{}|^`;\\&b=100%&package=your.ecom.app&&c",
      ] {
        let reply = try relay.ask("\(Swedbank.android)?\(query)")
        let intent =
          "intent://pay.example.com\(Swedbank.android)?\(query)#Intent;scheme=https;"
          + "action=com.swedbankpay.mobilesdk.VIEW_PAYMENTORDER;package=your.ecom.app;end;"
        #expect(reply.status == 200, "\(query)")
        #expect(reply.refresh == intent, "\(query)")
        #expect(reply.links == [intent], "\(query)")
        #expect(reply.text.contains("Kaffe &amp; &lt;Te&gt;"))
        #expect(reply.body.count < 10_000)
      }
    }
  }

  @Test(
    "A browser without the app is redirected to the other host's page, then to the scheme (SC07–SC11)")
  func ios() throws {
    try withHelpers { relay in
      let query = "scheme=yourecomapp&language=en-US&id=abb5&app=Your%20Ecom%20App"
      let path = Swedbank.ios.split(separator: "/").map { "%2F\($0)" }.joined()
      let first = try relay.ask("\(Swedbank.ios)?\(query)")
      #expect(first.status == 301)
      #expect(first.body.isEmpty)
      #expect(first.header("Set-Cookie") == nil)
      #expect(
        first.header("Location")
          == "\(Swedbank.page)?target=https%3A%2F%2Fpay.example.com\(path)%3Fscheme%3Dyourecomapp"
          + "%26language%3Den-US%26id%3Dabb5%26app%3DYour%2520Ecom%2520App%26fallback%3Dtrue"
          + "&language=en-US&app=Your%20Ecom%20App")
      let page = try relay.ask(
        Swedbank.trampoline + "?" + (first.header("Location") ?? "").drop { $0 != "?" }.dropFirst())
      #expect(page.status == 200)
      #expect(page.links == ["\(Swedbank.origin)\(Swedbank.ios)?\(query)&fallback=true"])
      #expect(page.refresh == nil)
      #expect(page.text.contains("Kaffe &amp; &lt;Te&gt;"))
      #expect(!page.text.contains("Your Ecom"), "a name from an address is not shown")
      let last = try relay.ask(String(try #require(page.links.first).dropFirst(Swedbank.origin.count)))
      #expect(last.status == 301)
      #expect(last.body.isEmpty)
      #expect(
        last.header("Location") == "yourecomapp://pay.example.com\(Swedbank.ios)?\(query)&fallback=true")
      let upper = "fallback=TRUE&scheme=YourEcomApp&language=en"
      let location = try relay.ask("\(Swedbank.ios)?\(upper)").header("Location")
      #expect(location == "YourEcomApp://pay.example.com\(Swedbank.ios)?\(upper)")
      let absolute = try relay.ask("http://evil.test:81\(Swedbank.ios)?\(upper)")
      #expect(absolute.header("Location") == location, "only the path and the query of a whole address count")
    }
  }

  @Test(
    "The app's SDK recognises every address for it, with any payment URL (SC09, SC02)")
  func recognised() throws {
    try withHelpers { relay in
      func url(_ text: String?) throws -> URL { try #require(text.flatMap { URL(string: $0) }) }
      for query in [
        "scheme=shopapp&language=en-US&id=abb5&app=My%20Shop", "language=sv&scheme=shopapp&app=My+Shop&x",
        "scheme=shopapp&language=nb&id=%E2%82%AC%2B%26&id=2", "scheme=shopapp&language=en&q=%7Ba%7D&&r='",
      ] {
        let paymentURL = PaymentURL(
          try url("\(Swedbank.origin)\(Swedbank.ios)?\(query)"), callbackScheme: "shopapp")
        let page = try #require(try relay.ask("\(Swedbank.ios)?\(query)").header("Location"))
        let link = try #require(
          try relay.ask("\(Swedbank.trampoline)?\(page.dropFirst("\(Swedbank.page)?".count))").links.first)
        let last = try relay.ask(String(link.dropFirst(Swedbank.origin.count))).header("Location")
        for address in [link, last] {
          #expect(try paymentURL.isMatch(url(address), rule: .iOSWeb), "\(query)")
        }
        let other = try url("\(last ?? "")#x")
        #expect(last?.hasPrefix("shopapp://") == true)
        #expect(!paymentURL.isMatch(other))

        let android = "\(Swedbank.android)?package=a.b&\(query)"
        let intent = try #require(try relay.ask(android).refresh)
        let data = "https" + intent.dropFirst("intent".count).prefix { $0 != "#" }
        let androidURL = PaymentURL(try url(Swedbank.origin + android))
        #expect(try androidURL.isMatch(url(data), rule: .android))
      }
    }
  }

  @Test func `Complete and cancel show no state of an unknown payment, and lead back (SC24)`() throws {
    let ios: JSONValue = ["links": ["ios": ["app_ids": ["ABCDE12345.com.example.app"], "scheme": "shopapp"]]]
    try withRelay(app: Swedbank.links().merging(ios)) { relay, _ in
      let fields = ["Host: a", "User-Agent: Mozilla/5.0 (iPhone)", "Accept-Language: sv-SE"]
      let pages = try ["complete", "cancel?result=success&id=7"].map {
        try relay.ask(Swedbank.root + $0, fields: fields)
      }
      for page in pages {
        #expect(page.status == 200)
        #expect(page.header("Content-Type") == "text/html; charset=utf-8")
        #expect(
          page.links == ["\(Swedbank.origin)/v1/shop/return", "shopapp://pay.example.com/v1/shop/return"])
        #expect(page.text.contains("<html lang=\"sv\">"))
        #expect(page.text.contains("noindex"))
        #expect(page.text.contains("<title>"))
        #expect(page.body.count < 10_000)
      }
      #expect(pages[0].text != pages[1].text, "who cancelled reads that nothing was paid here")
      // With a context's id the page shows the relay's state.
      let checkout = Checkout("user-of-swedbank")
      let id = try #require(try relay.outside.postContext(checkout.user, checkout.context)["context_id"])
      for path in ["complete", "cancel"] {
        let page = try relay.ask("\(Swedbank.root)\(path)?context_id=\(id)", fields: fields)
        #expect(page.links.first == "\(Swedbank.origin)/v1/shop/return?context_id=\(id)")
        #expect(page.text != pages[0].text)
        #expect(page.text.contains("<main class=\"busy\" data-seconds=\"3\">"))
      }
    }
  }

  /// Refused queries, of the Android page and of the iOS one.
  private static let refused: [String] =
    [
      "", "?", "?id=1", "?package=", "?package=a.evil&package=a.evil", "?package=a.evil&pack%61ge=b.c",
      "?package=evil;S.browser_fallback_url=https://evil.test", "?package=%22%3E%3Cscript%3Eevil",
      "?package=evil", "?package=1.evil", "?package=a.\(String(repeating: "evil", count: 75))",
      // Raw characters that no browser sends (SC05).
      "?package=a.b&x=\"><script>evil</script>", "?package=a.b&x=<evil", "?package=a.b&x=>evil",
      "?package=a.b&x=é",
      "?package=a.b#Intent;component=evil;end",
    ].map { Swedbank.android + $0 }
    + [
      "", "?scheme=evil", "?language=en", "?scheme=&language=en", "?scheme=evil&language=",
      "?scheme=evil&language=en&fallback=1", "?scheme=evil&language=en&fallback=xyz",
      "?scheme=evil&language=en&fallback=true&fallback=true", "?scheme=evil&scheme=evil&language=en",
      "?scheme=evil&language=en&x=\"", "?scheme=evil&language=en&x=<script>",
    ].map { Swedbank.ios + $0 }
    + [
      "javascript", "JavaScript", "data", "vbscript", "file", "blob", "about", "http", "https", "intent",
      "tel",
      "sms", "mailto", "https%3A%2F%2Fevil.test%2Fx%3F", "https://evil.test/x?", "https%3A%2F%2Fevil.test%23",
      "https://evil.test/", "//evil.test", "a%20b", "1app", "a%0d%0aSet-Cookie:x=1",
      String(repeating: "a", count: 200),
    ].map { "\(Swedbank.ios)?scheme=\($0)&language=en&id=%0Aalert(1)&fallback=true" }

  /// Targets with a byte that HTTP does not allow there (SC05): refused before a page reads them.
  private static let malformed = ["\u{7F}", "\u{1}", "a b"]
    .map { "\(Swedbank.android)?package=a.b&x=evil\($0)" }

  @Test func `A refused request has no redirect and is not reflected (SC03–SC05, SC10, SC12, SC13)`() throws {
    try withHelpers { relay in
      for target in Self.refused + Self.malformed {
        let reply = try relay.ask(target)
        let isRefused = Self.malformed.contains(target) ? reply.isMalformed : reply.isRefusal
        #expect(isRefused, "\(target): \(reply.status) \(reply.text)")
        #expect(!reply.text.contains("evil"))
        #expect(!reply.text.contains("<"))
        #expect(!reply.text.contains("S.browser"))
        #expect(reply.header("Set-Cookie") == nil)
        #expect(reply.header("Cache-Control") == "no-store")
      }
    }
  }

  @Test func `No header field of a request changes the redirect (SC06)`() throws {
    try withHelpers { relay in
      let fields = [
        "Host: evil.test", "X-Forwarded-Host: evil.test", "X-Forwarded-Proto: http", "X-Forwarded-Port: 81",
        "Forwarded: host=evil.test;proto=http", "X-Original-URL: /evil.test", "Origin: https://evil.test",
        "Referer: https://evil.test/",
      ]
      for target in [
        "\(Swedbank.android)?package=a.b", "\(Swedbank.ios)?scheme=a&language=en",
        "\(Swedbank.ios)?scheme=a&language=en&fallback=true", "\(Swedbank.root)complete",
        "\(Swedbank.trampoline)?target=\(Swedbank.origin)\(Swedbank.ios)?x",
      ] {
        let poisoned = try relay.ask(target, fields: fields)
        #expect(poisoned.lasting == (try relay.ask(target)).lasting, "\(target)")
        #expect(poisoned.status < 400, "\(target)")
        #expect(!poisoned.lasting.joined().contains("evil"))
        #expect(!poisoned.lasting.joined().contains("http://"))
      }
    }
  }

  @Test(
    "Only listed schemes and packages are accepted, and 302 is sent if configured (SC14, SC15)")
  func lists() throws {
    try withHelpers(["schemes": ["my-app+pay"], "packages": ["com.example.app"], "redirect": 302]) { relay in
      let end = "&language=en&fallback=true"
      let taken = try relay.ask("\(Swedbank.ios)?scheme=my-app%2Bpay\(end)")
      #expect(taken.status == 302)
      #expect(taken.header("Location")?.hasPrefix("my-app+pay://") == true)
      #expect(try relay.ask("\(Swedbank.android)?package=com.example.app").status == 200)
      for target in ["\(Swedbank.ios)?scheme=other\(end)", "\(Swedbank.android)?package=com.example.other"] {
        #expect(try relay.ask(target).isRefusal, "\(target)")
      }
    }
  }

  @Test(
    "Every answer is the same each time, is not cacheable, and HEAD has no body (SC16–SC18)")
  func fields() throws {
    try withHelpers { relay in
      for (target, isPage) in [
        ("\(Swedbank.android)?package=a.b", true), ("\(Swedbank.ios)?scheme=a&language=en", false),
        ("\(Swedbank.ios)?scheme=a&language=en&fallback=true", false), ("\(Swedbank.root)complete", true),
        ("\(Swedbank.root)cancel?x=1", true),
        ("\(Swedbank.trampoline)?target=\(Swedbank.origin)\(Swedbank.ios)", true),
      ] {
        let reply = try relay.ask(target)
        #expect(try relay.ask(target).lasting == reply.lasting)
        #expect(reply.status == (isPage ? 200 : 301))
        #expect(reply.header("Cache-Control") == "no-store")
        #expect(reply.header("Referrer-Policy") == "no-referrer")
        #expect(reply.header("X-Content-Type-Options") == "nosniff")
        #expect(reply.header("Set-Cookie") == nil)
        let policy = reply.header("Content-Security-Policy") ?? ""
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-") == isPage)
        #expect(policy.contains("frame-ancestors 'none'") == isPage)
        #expect(!policy.contains("script"))
        #expect((reply.header("Content-Type") == "text/html; charset=utf-8") == isPage)
        let head = try relay.ask(target, method: "HEAD")
        #expect(head.lasting.dropLast() == reply.lasting.dropLast(), "\(target)")
        #expect(head.body.isEmpty, "\(target)")
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
          let other = try relay.ask(target, method: method, fields: ["Host: a", "Content-Length: 0"])
          #expect(other.status == 405, "\(method) \(target)")
          #expect(other.header("Allow") == "GET, HEAD", "\(method) \(target)")
        }
      }
    }
  }

  @Test func `Other paths are 404, and so are all paths of an app without helpers (SC19)`() throws {
    try withRelay(app: ["links": ["origin": "https://pay.example.com"]]) { relay, _ in
      let target = "\(Swedbank.trampoline)?target=\(Swedbank.origin)\(Swedbank.ios)"
      for path in ["\(Swedbank.android)?package=a.b", "\(Swedbank.root)complete", target] {
        let reply = try relay.ask(path)
        #expect(reply.status == 404)
        #expect(reply.json?["type"] == "urn:receiptd:problem:not-found")
      }
    }
    try withHelpers { relay in
      for path in [
        "\(Swedbank.android)/?package=a.b", "/V1/shop/swedbank/sdk-callback/android-intent?package=a.b",
        "/v1/shop/swedbank/SDK-callback/android-intent?package=a.b", "\(Swedbank.root)complete/",
        "\(Swedbank.root)sdk-callback/reload?scheme=javascript%3Aalert(1)%2F%2F&token=x",
        "/v1/Shop/swedbank/complete", "\(Swedbank.trampoline)/",
      ] {
        let status = try relay.ask(path).status
        #expect(status == 404, "\(path)")
      }
    }
  }

  @Test func `The page on the second host leads only to callbacks of this app and origin (SC25)`() throws {
    try withHelpers { relay in
      for target in [
        "", "?target=", "?target=javascript:alert(1)", "?target=//evil.test/", "?target=https://evil.test/",
        "?target=https://pay.example.com.evil.test\(Swedbank.ios)",
        "?target=https%3A%2F%2Fpay.example.com%40evil.test%2F", "?target=https://pay.example.com/",
        "?target=\(Swedbank.origin)\(Swedbank.root)sdk-callback/%252e%252e/evil",
        "?target=\(Swedbank.origin)\(Swedbank.root)sdk-callback/../../../evil",
        "?target=https:%5C%5Cpay.example.com\(Swedbank.ios)",
        "?target=\(Swedbank.origin)\(Swedbank.ios)?%22evil",
        "?target=\(Swedbank.origin)\(Swedbank.ios)&target=https://evil.test/",
      ] {
        let reply = try relay.ask(Swedbank.trampoline + target)
        #expect(reply.isRefusal, "\(target): \(reply.status)")
        #expect(!reply.text.contains("evil"), "\(target): \(reply.status)")
      }
    }
  }
}
