// What a merchant sets of the return page: support, logo and colour; and what it shows of the purchase.

import Cryptography
import Domain
import Formats
import Testing

@testable import Config
@testable import HTTPServer
@testable import Store
@testable import Web

@Suite("The looks of the return page") struct ReturnPageLooksTests {
  private static let reference = "01J9ZZZZZZZZZZZZZZZZZZZZZZ"

  private static func page(
    _ outcome: ReturnOutcome = .delivered, reference: String? = nil, summary: PurchaseSummary? = nil,
    language: PageLanguage = .en, _ change: (inout AppConfiguration.Links.ReturnPage) -> Void = { _ in }
  ) throws -> (markup: String, response: Response) {
    var links = try ReturnPageBed.links()
    if var page = links.returnPage {
      change(&page)
      links.returnPage = page
    }
    let page = ReturnPage.page(
      outcome, links, app: "shop", name: nil, reference: reference, summary: summary, device: .iOS,
      language: language, refreshSeconds: 3)
    let response = page.response()
    return (String(decoding: response.body, as: UTF8.self), response)
  }

  @Test func `The help has a link, and the reference that the support needs`() throws {
    let plain = try Self.page(reference: Self.reference).markup
    #expect(!plain.contains(Self.reference), "a reference without an address is of no use")
    let byPage = try Self.page(reference: Self.reference) {
      $0.support = .page("https://example.com/help?a=1")
    }
    #expect(byPage.markup.contains("<a href=\"https://example.com/help?a=1\">Get help</a>"))
    #expect(byPage.markup.contains("Reference: <code>\(Self.reference)</code>"))
    let byMail = try Self.page(reference: Self.reference) { $0.support = .address("help@example.com") }.markup
    #expect(byMail.contains("href=\"mailto:help@example.com?subject=Example%20%C2%B7%20\(Self.reference)\""))
    let unknown = try Self.page(.unknown) { $0.support = .address("help@example.com") }.markup
    #expect(unknown.contains("mailto:help@example.com?subject=Example\""))
    #expect(!unknown.contains("<code>"))
  }

  @Test("The page never updated without AbortSignal.timeout, and the logo vanished in a contrast theme")
  func oldBrowsersAndContrastThemes() throws {
    let script = String(describing: PublicScript.text)
    for new in ["AbortSignal.", "replaceChildren", ".at(", "structuredClone", "??=", "||="] {
      #expect(!script.contains(new), "\(new) is newer than Safari 13.1")
    }
    let sheet = String(describing: PublicStylesheet.text)
    let themed = sheet.components(between: "(forced-colors:active){", and: "\n}")
    #expect(themed.count == 2)
    #expect(themed.first?.contains("header img{background:#fff;") == true)
    #expect(themed.allSatisfy { $0.contains("forced-color-adjust:none") })
    #expect(themed.last?.contains(".qr,.mark") == true)
  }

  @Test func `A colour has its own stylesheet, whose hash the policy has`() throws {
    let (markup, response) = try Self.page { $0.accentLight = PageColor("#7a1fa2") }
    let sheets = markup.components(between: "<style>", and: "</style>")
    #expect(sheets.count == 2)
    #expect(sheets.last?.hasPrefix(":root{--link:#7a1fa2;") == true)
    let policy = try #require(response.headers.first { $0.name == "Content-Security-Policy" }?.value)
    for sheet in sheets {
      #expect(policy.contains("'sha256-\(Base64.encode(SHA256.digest(Array(sheet.utf8))))'"))
    }
    #expect(!policy.contains("script-src"), "a page that waits for nothing has no script")
    let accent = try #require(PageColor("#7a1fa2").map { PageAccent(light: $0, dark: $0) })
    let derived = AppConfiguration.Links.ReturnPage(name: "", accentLight: accent.light).accent
    #expect(derived?.light == accent.light)
    #expect(derived.map { PageMode.dark.leastContrast(of: $0.dark).ratio >= 4.5 } == true)
    #expect(AppConfiguration.Links.ReturnPage(name: "").accent == nil)
  }

  @Test func `The stylesheet's backgrounds are those by which colours are checked`() {
    let sheet = "\(PublicStylesheet.text)"
    #expect(PageMode.light.backgrounds.map(\.text) == ["#f3f4f7", "#ffffff"])
    #expect(PageMode.dark.backgrounds.map(\.text) == ["#0d1015", "#171b22"])
    for mode in PageMode.allCases {
      for (name, color) in zip(["page", "card"], mode.backgrounds) {
        #expect(sheet.contains("--\(name):\(color.text);"))
      }
    }
  }

  @Test(
    "A page that waits has the script whose hash the policy has, and a link for browsers that do not run it")
  func script() throws {
    let (markup, response) = try Self.page(.waiting)
    let script = try #require(markup.components(between: "<script>", and: "</script>").first)
    #expect(script == "\(PublicScript.text)")
    let policy = try #require(response.headers.first { $0.name == "Content-Security-Policy" }?.value)
    #expect(
      policy.contains(
        "script-src 'sha256-\(Base64.encode(SHA256.digest(Array(script.utf8))))'; connect-src 'self'"))
    #expect(markup.contains("<p id=\"again\"><a class=\"again\" href=\"\">Check again</a></p>"))
    #expect(!markup.contains("http-equiv"))
  }

  @Test func `A logo is shown with the app's name, and cannot run anything when it is opened`() throws {
    let svg = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
    let logo = AppConfiguration.Links.Logo(path: "/logo.svg", format: .svg, bytes: svg)
    let markup = try Self.page { $0.logo = logo }.markup
    #expect(markup.contains("<img src=\"/v1/shop/return/logo\" alt=\"Example\">"))
    var (app, other) = (Bench.app(), Bench.app("other"))
    (app.links, other.links) = (try ReturnPageBed.links(), try ReturnPageBed.links())
    app.links?.returnPage?.logo = logo
    let bench = try Bench([app, other], isStarted: false)
    let server = try bench.serve()
    let client = try RawClient(port: server.port)
    try client.get("/v1/shop/return/logo")
    let reply = try client.reply()
    #expect(reply.status == 200)
    #expect(reply.body == svg)
    #expect(reply.header("Content-Type") == "image/svg+xml")
    #expect(reply.header("Content-Security-Policy")?.hasSuffix("sandbox") == true)
    #expect(reply.header("ETag") != nil)
    let none = try RawClient(port: server.port)
    try none.get("/v1/other/return/logo")
    #expect(try none.reply().status == 404)
  }

  @Test func `What was bought is shown once the customer has paid, as text`() throws {
    let summary = PurchaseSummary(
      item: "<b>Premium</b>", money: Currency("EUR").map { Money(minorUnits: 4999, $0) },
      at: Timestamp(unixSeconds: 1_795_780_800))
    let markup = try Self.page(summary: summary, language: .de).markup
    #expect(markup.contains("<dt>Artikel</dt><dd><bdi>&lt;b&gt;Premium&lt;/b&gt;</bdi></dd>"))
    #expect(markup.contains("<dt>Betrag</dt><dd><bdi>49,99\u{A0}€</bdi></dd>"))
    #expect(markup.contains("<dt>Datum</dt><dd><time datetime=\"2026-11-27\">27.11.2026</time></dd>"))
    #expect(try !Self.page().markup.contains("<dl>"))
    #expect(ReturnOutcome.allCases.filter(\.isComplete) == [.underWay, .paid, .delivered, .undelivered])
  }

  @Test(arguments: [ReturnOutcome.paid, .delivered, .undelivered])
  func `A free order and a trial are not called a payment`(outcome: ReturnOutcome) throws {
    let order = try Self.page(outcome, summary: PurchaseSummary(isFree: true)).markup
    #expect(order.contains("<h1>Your order is complete</h1>"))
    #expect(!order.contains("ayment has been received"))
    let trial = try Self.page(outcome, summary: PurchaseSummary(isFree: true, isTrial: true)).markup
    #expect(trial.contains("<h1>Your trial has begun</h1>"))
    #expect(!trial.contains("ayment has been received"))
    // A trial with a set-up fee was paid for.
    let fee = PurchaseSummary(money: Money(minorUnits: 500, .usDollar), isTrial: true)
    #expect(try Self.page(outcome, summary: fee).markup.contains("ayment has been received"))
    let waiting = try Self.page(.waiting, summary: PurchaseSummary(isFree: true)).markup
    #expect(waiting.contains("<h1>Waiting for confirmation</h1>"))
  }

  @Test func `A page stays small with the longest value of every key, in every language`() throws {
    var links = try ReturnPageBed.links()
    let url =
      "https://example.com/" + String(repeating: "a", count: KeyRanges.storeURLBytesMax - 20)
    var page = AppConfiguration.Links.ReturnPage(name: String(repeating: "語", count: 33))
    (page.iosStore, page.androidStore, page.support) = (url, url, .page(url))
    page.accentLight = PageColor("#7a1fa2")
    links.returnPage = page
    let item = "a" + String(repeating: "\u{301}", count: 10_000)
    let summary = PurchaseSummary(
      item: item, money: Currency("KWD").map { Money(minorUnits: .max, $0) }, at: Timestamp(unixSeconds: 1))
    // The longest link that has a code.
    let session = SessionID("cs_" + String(repeating: "z", count: 160))
    for language in PageLanguage.allCases {
      let page = ReturnPage.page(
        .paid, links, app: "shop", name: .session(session), reference: Self.reference, summary: summary,
        device: .other, language: language, refreshSeconds: 3)
      #expect(page.ways.phone != nil)
      #expect(page.response().body.count < 18_000, "\(language): \(page.response().body.count)")
    }
  }

  @Test func `The app's name cannot move the words around it, in either direction of writing`() throws {
    for language in [PageLanguage.ar, .he, .en] {
      let markup = try Self.page(language: language).markup
      #expect(markup.contains("<bdi>Example</bdi>"), "\(language)")
    }
  }
}

extension String {
  fileprivate func components(between start: String, and end: String) -> [String] {
    var (found, rest) = ([String](), self[...])
    while let from = rest.firstRange(of: start)?.upperBound,
      let to = rest[from...].firstRange(of: end)
    {
      found.append(String(rest[from..<to.lowerBound]))
      rest = rest[to.upperBound...]
    }
    return found
  }
}
