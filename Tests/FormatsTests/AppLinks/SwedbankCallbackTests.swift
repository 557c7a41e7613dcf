// Swedbank Pay's payment URLs: accepted and refused requests, and their redirects.

import Testing

@testable import Formats

@Suite("Payment URLs") struct SwedbankCallbackTests {
  static let root = "/v1/shop/swedbank/sdk-callback/"
  static let ios = root + "ios-universal-link"
  static let android = root + "android-intent"
  static let trampoline = "https://back.example.net/v1/shop/trampoline"
  let origin: WebOrigin

  init() throws { origin = try WebOrigin("https://pay.example.com") }

  private func location(
    _ query: String, origin: String = "https://pay.example.com", schemes: [CustomScheme]? = nil
  ) throws(CallbackFault) -> String {
    // A fault of the test itself.
    guard let origin = try? WebOrigin(origin) else { throw CallbackFault("no origin") }
    let target = try CallbackTarget("\(Self.ios)?\(query)")
    return try IOSPaymentURL(target, origin: origin, schemes: schemes).location(trampoline: Self.trampoline)
  }

  private func intent(_ query: String, packages: [PackageName]? = nil) throws(CallbackFault) -> String {
    let target = try CallbackTarget("\(Self.android)?\(query)")
    return try AndroidPaymentURL(target, origin: origin, packages: packages).intent.text
  }

  private func back(_ query: String) throws(CallbackFault) -> BackLink {
    let request = try CallbackTarget("/v1/shop/trampoline?\(query)", byteCountMax: 8192)
    return try BackLink(request, origin: origin, root: Self.root)
  }

  /// SC01, SC02.
  @Test(arguments: [
    "package=com.example.shop&id=7f3a", "id=7f3a&x=%20+%2B%e2%&package=com.example.shop",
    "pack%61ge=com.example.shop", "package=com.example.shop&a=1&a=2&&=;{}|^'`\\&b",
    "package=com.example.shop&packages=x&Package=y&package[]=z",
  ])
  func `An Android payment URL is passed on byte for byte`(query: String) throws {
    let expected =
      "intent://pay.example.com\(Self.android)?\(query)#Intent;scheme=https;"
      + "action=com.swedbankpay.mobilesdk.VIEW_PAYMENTORDER;package=com.example.shop;end;"
    #expect(try intent(query) == expected)
  }

  /// SC03, SC04.
  @Test(arguments: [
    "", "id=1", "package", "package=", "package=com.a.b&package=com.a.b", "package=com.a.b&pack%61ge=c.d",
    "package=com.a.b&package", "package=evil%3BS.browser_fallback_url%3Dhttps%3A%2F%2Fevil.test",
    "package=evil;S.browser_fallback_url=https://evil.test;", "package=%22%3E%3Cscript%3E", "package=evil",
    "package=1evil.b", "package=evil.b%0A", "package=evil.b%", "package=%e9vil.b", "package=evil..b",
    "package=evil.b+", "package=\(String(repeating: "evil.", count: 60))b",
  ])
  func `A missing, repeated or invalid package is refused, and not reflected`(query: String) throws {
    let fault = try #require(throws: CallbackFault.self) { try intent(query) }
    #expect(fault.description.contains("`package`"))
    #expect(!fault.description.contains("evil"))
    #expect(!fault.description.contains("script"))
  }

  /// SC07, SC08: encoded like `encodeURIComponent`.
  @Test(
    "An iOS payment URL leads to the page on the other host, which leads back with fallback=true",
    arguments: [
      (
        "scheme=shopapp&language=nb-NO&id=7f3a&app=My%20Shop",
        "scheme%3Dshopapp%26language%3Dnb-NO%26id%3D7f3a%26app%3DMy%2520Shop%26fallback%3Dtrue"
          + "&language=nb-NO&app=My%20Shop"
      ),
      (
        "language=sv-SE&scheme=shopapp",
        "language%3Dsv-SE%26scheme%3Dshopapp%26fallback%3Dtrue&language=sv-SE"
      ),
      (
        "scheme=shopapp&language=en&app=K%C3%B8b+%26+%2B%25",
        "scheme%3Dshopapp%26language%3Den%26app%3DK%25C3%25B8b%2B%2526%2B%252B%2525%26fallback%3Dtrue"
          + "&language=en&app=K%C3%B8b%20%26%20%2B%25"
      ),
      (
        "scheme=shopapp&language=en&app=-_.!~*'()&x={%zz}",
        "scheme%3Dshopapp%26language%3Den%26app%3D-_.!~*'()%26x%3D%7B%25zz%7D%26fallback%3Dtrue"
          + "&language=en&app=-_.!~*'()"
      ),
    ])
  func first(query: String, rest: String) throws {
    let start = "\(Self.trampoline)?target=https%3A%2F%2Fpay.example.com"
    let path = Self.ios.split(separator: "/").map { "%2F\($0)" }.joined()
    #expect(try location(query) == "\(start)\(path)%3F\(rest)")
    let local = try location("scheme=shopapp&language=en", origin: "http://127.0.0.1:8080")
    #expect(local.hasPrefix("\(Self.trampoline)?target=http%3A%2F%2F127.0.0.1%3A8080%2Fv1"))
  }

  /// SC09, SC10, SC11.
  @Test(
    "With fallback=true in any case the redirect uses the app's own scheme and changes no byte",
    arguments: [
      ("scheme=shopapp&language=en&id=1&fallback=true", "shopapp"),
      ("fallback=TRUE&scheme=ShopApp&language=en&x=%e2+%2B;{}", "ShopApp"),
      ("scheme=com.example.my-app%2Bpay&language=en&fallback=tru%65", "com.example.my-app+pay"),
    ])
  func fallback(query: String, scheme: String) throws {
    #expect(try location(query) == "\(scheme)://pay.example.com\(Self.ios)?\(query)")
    let local = try location(query, origin: "http://[::1]:8080")
    #expect(local == "\(scheme)://[::1]:8080\(Self.ios)?\(query)")
  }

  /// SC10.
  @Test(
    "fallback=false becomes fallback=true of the redirect's address, in the same position",
    arguments: [
      ("scheme=a&fallback=false&language=en", "scheme=a&fallback=true&language=en"),
      ("f%61llback=FALSE&scheme=a&language=en", "fallback=true&scheme=a&language=en"),
      ("scheme=a&language=en&x=fallback=false", "scheme=a&language=en&x=fallback=false&fallback=true"),
      ("scheme=a&language=en&fallback=false&", "scheme=a&language=en&fallback=true&"),
    ])
  func notYet(query: String, again: String) throws {
    let target = try #require(try location(query).firstMatch(of: #/target=([^&]*)&/#)).1
    let decoded = PercentEncoding.decode(target.utf8.span)
    #expect(decoded == "https://pay.example.com\(Self.ios)?\(again)")
  }

  /// SC10, SC12, SC13.
  @Test(
    "A missing, repeated, empty or unusable parameter is refused, and not reflected",
    arguments: [
      ("scheme", "language=en"), ("scheme", "scheme=&language=en"), ("scheme", "scheme&language=en"),
      ("scheme", "scheme=evil&language=en&sch%65me=evil"), ("scheme", "SCHEME=evil&language=en"),
      ("language", "scheme=evil"), ("language", "scheme=evil&language="),
      ("language", "scheme=a&language=en&language=en"), ("language", "scheme=a&language=%e2"),
      ("language", "scheme=a&language=\(String(repeating: "evil", count: 17))"),
      ("fallback", "scheme=a&language=en&fallback=1"), ("fallback", "scheme=a&language=en&fallback=evil"),
      ("fallback", "scheme=a&language=en&fallback="), ("fallback", "scheme=a&language=en&fallback"),
      ("fallback", "scheme=a&language=en&fallback=true&fallback=true"),
      ("fallback", "scheme=a&language=en&fallback=true&fallb%61ck=false"),
      ("app", "scheme=a&language=en&app="), ("app", "scheme=a&language=en&app=x&app=x"),
      ("app", "scheme=a&language=en&app=%"), ("app", "scheme=a&language=en&app=%C3"),
      ("app", "scheme=a&language=en&app=\(String(repeating: "%C3%A9", count: 129))"),
    ])
  func parameter(name: String, query: String) throws {
    let fault = try #require(throws: CallbackFault.self) { try location(query) }
    #expect(fault.description.contains("`\(name)`"))
    #expect(!fault.description.contains("evil"))
  }

  /// SC13.
  @Test(arguments: [
    "javascript", "JavaScript", "data", "vbscript", "file", "blob", "about", "http", "https", "HTTPS",
    "intent", "tel", "sms", "mailto", "market", "itms-apps", "view-source", "filesystem", "wss", "ftp",
    "content", "android-app", "chrome", "https%3A%2F%2Fevil.test%2Fx%3F", "https://evil.test",
    "https%3A%2F%2Fevil.test%23", "%2F%2Fevil.test", "//evil.test", "a%20b", "a+b", "1app", "a%0d%0aX:x=1",
    "a%00", "a%3A", "shop%C3%A9", "%EF%BC%8F", String(repeating: "a", count: 200),
    String(repeating: "a", count: 64),
  ])
  func `A scheme that an app cannot own is refused`(text: String) throws {
    for rest in ["", "&fallback=true"] {
      let fault = try #require(throws: CallbackFault.self) {
        try location("scheme=\(text)&language=en\(rest)")
      }
      #expect(fault.description.contains("`scheme`"))
      #expect(!fault.description.contains(text))
    }
  }

  /// SC14, SC15.
  @Test func `Only listed schemes and packages are accepted; schemes compare without case`() throws {
    let schemes = [try CustomScheme("com.example.my-app+pay"), try CustomScheme("shopapp")]
    let query = "&language=en&fallback=true"
    let plus = try location("scheme=com.example.my-app%2Bpay\(query)", schemes: schemes)
    #expect(plus.hasPrefix("com.example.my-app+pay://"))
    #expect(try location("scheme=ShopApp\(query)", schemes: schemes).hasPrefix("ShopApp://"))
    let packages = [try PackageName("com.example.shop")]
    #expect(try intent("package=com.example.shop", packages: packages).hasPrefix("intent://"))
    for attempt in [
      { try location("scheme=other\(query)", schemes: schemes) },
      { try location("scheme=shopapp2\(query)", schemes: schemes) },
      { try location("scheme=shopapp\(query)", schemes: []) },
      { try intent("package=com.example.shop2", packages: packages) },
      { try intent("package=com.example.Shop", packages: packages) },
    ] {
      let fault = try #require(throws: CallbackFault.self) { _ = try attempt() }
      #expect(fault.description.contains("`links.swedbank`"))
    }
  }

  /// SC05.
  @Test func `A target with a byte that no browser sends is refused, every other byte is accepted`() throws {
    for value in UInt32(0)...0x100 {
      let character = String(Character(try #require(Unicode.Scalar(value))))
      let isTaken = value > 0x20 && value < 0x7F && !"\"<>#".contains(character)
      let text = "\(Self.android)?package=a.b&x=\(character)y"
      let target = try? CallbackTarget(text)
      #expect(target?.text == (isTaken ? text : nil), "\(value)")
    }
    for text in ["", "?package=a.b", "a?package=a.b", "https://pay.example.com/?package=a.b", "*"] {
      #expect(throws: CallbackFault.impureTarget) { try CallbackTarget(text) }
    }
  }

  @Test("A target of the maximum length is accepted, also on its way back; a longer one is refused")
  func lengths() throws {
    let start = "\(Self.ios)?scheme=a&language=en&x="
    func query(_ length: Int, _ end: String = "") -> String {
      let padding = String(repeating: "%", count: length - start.utf8.count - end.utf8.count)
      return "scheme=a&language=en&x=\(padding)\(end)"
    }
    let more = "&fallback=true".utf8.count
    let longest = try location(query(CallbackTarget.byteCountMax - more))
    let encoded = try #require(longest.firstMatch(of: #/target=([^&]*)/#)).1
    let link = try back("target=\(encoded)&language=en")
    #expect(link.target.utf8.count == CallbackTarget.byteCountMax)
    let again = try CallbackTarget(link.target)
    let last = try IOSPaymentURL(again, origin: origin, schemes: nil).location(trampoline: Self.trampoline)
    #expect(last == "a://pay.example.com\(link.target)")
    for count in [CallbackTarget.byteCountMax - more + 1, CallbackTarget.byteCountMax + 1] {
      #expect(throws: CallbackFault.longTarget) { try location(query(count)) }
    }
  }
}
