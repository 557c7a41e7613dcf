// The links of the return page on each kind of device, and that app names are only text.

import Domain
import Formats
import Testing

@testable import Config
@testable import HTTPServer
@testable import Store
@testable import Web

@Suite("The ways back into the app") struct ReturnWaysTests {
  private static let origin = "https://pay.example.com"
  private static let target = "/v1/shop/return?context_id=ctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ"

  private static func page(
    _ links: AppConfiguration.Links, _ device: ReturnDevice, language: PageLanguage = .en
  ) -> PublicPage {
    ReturnPage.page(
      .delivered, links, app: "shop", name: .context("ctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ"), device: device,
      language: language, refreshSeconds: 3)
  }

  @Test func `One button leads back: by the universal link, or on Android to the package (PL24)`() throws {
    let links = try ReturnPageBed.links()
    let universal = Self.origin + Self.target
    let store = "https%3A%2F%2Fplay.google.com%2Fstore%2Fapps%2Fdetails%3Fid%3Dcom.example.app"
    let intent =
      "intent://pay.example.com\(Self.target)#Intent;scheme=https;package=com.example.app;"
      + "S.browser_fallback_url=\(store);end"
    #expect(Self.page(links, .iOS).ways.button?.link.text == universal)
    #expect(Self.page(links, .other).ways.button?.link.text == universal)
    #expect(Self.page(links, .android).ways.button?.link.text == intent)

    var bare = links
    bare.returnPage = nil
    bare.ios?.paths = [try LinkPath("/*")]
    let fallback = try #require(Self.page(bare, .android).ways.button?.link.text)
    #expect(fallback.contains("S.browser_fallback_url=https%3A%2F%2Fpay.example.com%2Fv1%2Fshop%2Freturn%3F"))
    #expect(Self.page(bare, .iOS).ways.button?.text.markup == "Back to <bdi>shop</bdi>")
  }

  @Test func `The scheme is the second link, the store the third, and useless links are left out`() throws {
    let links = try ReturnPageBed.links()
    let scheme = "exampleapp://pay.example.com" + Self.target
    let (apple, google) = (
      "https://apps.apple.com/app/id1", "https://play.google.com/store/apps/details?id=com.example.app"
    )
    #expect(Self.page(links, .iOS).ways.others.map(\.link.text) == [scheme, apple])
    #expect(Self.page(links, .android).ways.others.map(\.link.text) == [google])
    #expect(Self.page(links, .other).ways.others.map(\.link.text) == [scheme, apple, google])
    #expect(Self.page(links, .computer).ways.others.isEmpty, "the page on the phone has them")
    var bare = links
    bare.returnPage = .init(name: "Example")
    bare.ios?.scheme = nil
    for device in ReturnDevice.allCases { #expect(Self.page(bare, device).ways.others.isEmpty) }
  }

  @Test func `On Android the button opens the first package, then each next one, then the store`() throws {
    var links = try ReturnPageBed.links()
    let names = ["com.example.app", "com.example.app.beta", "com.example.app.debug"]
    let fingerprints = try #require(links.android).packages[0].fingerprints
    links.android?.packages = try names.map {
      .init(name: try PackageName($0), fingerprints: fingerprints)
    }
    func button(_ package: String?, _ name: CheckoutName? = .context("ctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ")) throws
      -> String
    {
      let page = ReturnPage.page(
        .delivered, links, app: "shop", name: name, device: .android,
        package: try package.map(PackageName.init),
        language: .en, refreshSeconds: 3)
      return try #require(page.ways.button?.link.text)
    }
    let page = "https%3A%2F%2Fpay.example.com%2Fv1%2Fshop%2Freturn%3F"
    let id = "context_id%3Dctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ%26"
    let start = "intent://pay.example.com\(Self.target)#Intent;scheme=https;package="
    #expect(
      try button(nil)
        == "\(start)com.example.app;S.browser_fallback_url=\(page)\(id)package%3Dcom.example.app.beta;end")
    #expect(
      try button(names[1])
        == "\(start)com.example.app.beta;"
        + "S.browser_fallback_url=\(page)\(id)package%3Dcom.example.app.debug;end")
    #expect(
      try button(names[2]).hasPrefix(
        "\(start)com.example.app.debug;S.browser_fallback_url=https%3A%2F%2Fplay.google.com%2F"))
    #expect(try button("com.evil.app") == button(nil))
    #expect(try button(nil, nil).contains("\(page)package%3Dcom.example.app.beta;end"))
  }

  @Test func `Android has a scheme of its own as the second way back`() throws {
    var links = try ReturnPageBed.links()
    links.android?.scheme = try CustomScheme("exampledroid")
    let scheme = "exampledroid://pay.example.com" + Self.target
    #expect(Self.page(links, .android).ways.others.map(\.link.text).first == scheme)
    #expect(Self.page(links, .android).ways.button?.link.text.hasPrefix("intent:") == true)
    for device in [ReturnDevice.iOS, .other] {
      #expect(!Self.page(links, device).ways.others.contains { $0.link.text == scheme })
    }
  }

  @Test func `Without an app for the device, the page says that it can be closed`() throws {
    let close = PageLanguage.en.words[.canCloseAndGoBack].html(app: "Example")
    var none = try ReturnPageBed.links()
    (none.ios, none.android) = (nil, nil)
    var (apple, google) = (try ReturnPageBed.links(), try ReturnPageBed.links())
    (apple.android, google.ios) = (nil, nil)
    for device in ReturnDevice.allCases {
      let page = Self.page(none, device)
      #expect(page.ways.button == nil)
      #expect(page.sentences.last == close)
      #expect(page.ways.others.allSatisfy { $0.link.text.hasPrefix("https://") })
    }
    // No button that leads from this page to itself.
    #expect(Self.page(apple, .android).ways.button == nil)
    #expect(Self.page(google, .iOS).ways.button == nil)
    #expect(Self.page(apple, .other).ways.button != nil)
    #expect(Self.page(google, .other).ways.button != nil)
    #expect(Self.page(apple, .iOS).sentences.contains(close) == false)
  }

  @Test("At a computer, a code leads the phone to the app, instead of a button that opens nothing")
  func codes() throws {
    let links = try ReturnPageBed.links()
    let code = try #require(QRCode(Self.origin + Self.target))
    let computer = Self.page(links, .computer)
    #expect(computer.ways.button == nil)
    #expect(computer.ways.phone?.code == code)
    #expect(computer.ways.phone?.here == nil)
    #expect(computer.ways.html.markup.contains("class=\"sole\""))
    // It may be a tablet: the stylesheet shows one of them.
    let other = Self.page(links, .other)
    #expect(other.ways.phone?.code == code)
    #expect(other.ways.phone?.here?.link == other.ways.button?.link)
    #expect(other.ways.html.markup.contains("class=\"either\""))
    for device in [ReturnDevice.iOS, .android] { #expect(Self.page(links, device).ways.phone == nil) }
    var none = links
    (none.ios, none.android) = (nil, nil)
    #expect(Self.page(none, .computer).ways.phone == nil, "there is no app")
    let markup = String(decoding: computer.response().body, as: UTF8.self)
    #expect(markup.utf8.count < 16_000)
  }

  @Test func `If the page's own address does not open the app, the button uses the scheme`() throws {
    var links = try ReturnPageBed.links()
    (links.returnPage, links.swedbank, links.android) = (nil, nil, nil)
    links.ios?.paths = [try LinkPath("/buy/*")]
    let page = Self.page(links, .iOS)
    #expect(page.ways.button?.link.text == "exampleapp://pay.example.com" + Self.target)
    #expect(page.ways.others.isEmpty)
    let other = Self.page(links, .other)
    #expect(other.ways.button == nil)
    #expect(other.ways.others.map(\.link.text.first) == ["e"])
    links.ios?.paths = [try LinkPath("NOT /v1/shop/return"), try LinkPath("/*")]
    #expect(Self.page(links, .iOS).ways.button?.link.text.hasPrefix("exampleapp://") == true)
    links.ios?.paths = [try LinkPath("/*")]
    #expect(Self.page(links, .iOS).ways.button?.link.text == Self.origin + Self.target)
  }

  @Test(
    arguments: [
      ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1", .iOS),
      ("Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) Safari/604.1", .iOS),
      ("Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/130.0 Mobile Safari/537.36", .android),
      ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15", .other),
      ("Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0 Safari/537.36", .other),
      ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) Chrome/130.0 Safari/537.36", .other),
      ("Mozilla/5.0 (Windows NT 10.0; Win64; x64)", .computer), ("\"><script>", .other), ("", .other),
      (nil, .other),
    ] as [(String?, ReturnDevice)])
  func `The device is read from the browser's headers`(userAgent: String?, device: ReturnDevice) {
    #expect(ReturnDevice(userAgent: userAgent) == device)
  }

  @Test(arguments: [
    "<script>document.title='x'</script>", "\"><img src=x onerror=alert(1)>", "Q&A;package=evil.app",
    "\u{202E}gnp.exe", "</title><meta http-equiv=refresh content=0>", "Name\r\nX: y",
    String(repeating: "W", count: 100),
  ])
  func `Any app name is shown unchanged, in every language`(name: String) throws {
    var links = try ReturnPageBed.links()
    links.returnPage?.name = name
    for language in PageLanguage.allCases {
      for device in ReturnDevice.allCases {
        let response = Self.page(links, device, language: language).response()
        let markup = String(decoding: response.body, as: UTF8.self)
        #expect(markup.utf8.count < (device == .iOS || device == .android ? 12_000 : 16_000))
        for sign in ["<script", "<img", "</title><", "\u{202E}", "\r"] { #expect(!markup.contains(sign)) }
        #expect(!markup.contains("<meta http-equiv"))
        #expect(markup.components(of: "<h1>").count == 2)
        #expect(response.headers.allSatisfy { Response.fault(name: $0.name, value: $0.value) == nil })
        #expect(!response.headers.contains { $0.value.contains("evil") || $0.value.contains("X: y") })
        let intent = Self.page(links, device, language: language).ways.button?.link.text ?? ""
        #expect(!intent.contains("evil"), "the name is in no address")
      }
    }
  }
}

extension String {
  fileprivate func components(of separator: String) -> [Substring] {
    var (parts, rest) = ([Substring](), self[...])
    while let range = rest.firstRange(of: separator) {
      parts.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    return parts + [rest]
  }
}
