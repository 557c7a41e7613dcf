// The URLs that the page on a second host links to: apps recognize them, and no query leads to any other URL.

import Testing

@testable import Formats

@Suite("The way back from a payment") struct SwedbankBackLinkTests {
  static let root = "/v1/shop/swedbank/sdk-callback/"
  static let base = "https://pay.example.com\(root)"
  static let trampoline = "https://back.example.net/v1/shop/trampoline"
  let origin: WebOrigin

  init() throws { origin = try WebOrigin("https://pay.example.com") }

  private func back(_ query: String) throws(CallbackFault) -> BackLink {
    let request = try CallbackTarget(
      "/v1/shop/trampoline?\(query)", byteCountMax: BackLink.targetByteCountMax)
    return try BackLink(request, origin: origin, root: Self.root)
  }

  @Test("A link leads to the app's callback unchanged, and the app's name in the address is ignored")
  func taken() throws {
    let target = "ios-universal-link?scheme=a&language=en&x={;'}%2B+%e2&fallback=true"
    let link = try back(
      "app=x&app=%zz&language=nb&target=\(PercentEncoding.encode(Self.base + target, keeping: .component))")
    #expect(link.target == Self.root + target)
    #expect(link.language == "nb")
    #expect(try back("target=\(Self.base)android-intent").target == "\(Self.root)android-intent")
    #expect(try back("target=\(Self.base)android-intent?package=a.b").language == nil)
  }

  /// SC25. Each target is tested encoded and unencoded.
  @Test(
    "A target that is not a callback of the app on its own origin is refused, and not reflected",
    arguments: [
      "javascript:alert(1)", "javascript://pay.example.com\(root)ios-universal-link", "//evil.test/",
      "https://evil.test\(root)ios-universal-link", "https://pay.example.com.evil.test\(root)android-intent",
      "https://pay.example.com@evil.test\(root)android-intent", "/v1/shop/swedbank/sdk-callback/x",
      "https://evil@pay.example.com\(root)ios-universal-link", "http://pay.example.com\(root)android-intent",
      "https://pay.example.com:443\(root)android-intent", "https://pay.example.com:8443\(root)android-intent",
      "https://PAY.example.com\(root)android-intent", "https:/pay.example.com\(root)android-intent",
      "https:\\\\pay.example.com\(root)android-intent", "https://pay.example.com\\@evil.test/",
      "https://pay.example.com", "https://pay.example.com/", "https://pay.example.com/v1/shop/return",
      "\(base)", "\(base)reload?scheme=evil", "\(base)../complete", "\(base)./ios-universal-link",
      "\(base)%2e%2e/x", "\(base)x/../ios-universal-link", "\(base)/ios-universal-link",
      "\(base)ios-universal-link/", "\(base)ios-universal-link\\..\\..", "\(base)ios%252Duniversal-link",
      "https://pay.example.com/v1/other/swedbank/sdk-callback/ios-universal-link",
      "https://pay.example.com//v1/shop/swedbank/sdk-callback/ios-universal-link",
      " \(base)ios-universal-link", "\t\(base)ios-universal-link", "\(base)ios-universal-link?x=\" y",
      "\(base)ios-universal-link?\u{0}", "\(base)ios-universal-link?\r\nX: y", "\(base)ios-universal-link#x",
      "\(base)ios-universal-link?<script>", "\(base)ios-universal-link?é",
      "https://pay.example.com/\u{338}v1/shop/swedbank/sdk-callback/ios-universal-link", "",
    ])
  func refused(target: String) throws {
    for query in ["target=\(PercentEncoding.encode(target, keeping: .component))", "target=\(target)"] {
      let fault = try #require(throws: CallbackFault.self, "\(query)") { try back(query) }
      #expect(!fault.description.contains("evil"))
      #expect(!fault.description.contains("script"))
    }
  }

  @Test(
    "A target must be named once, and so may a language",
    arguments: [
      "", "language=en", "target=\(base)android-intent&target=\(base)android-intent",
      "target=\(base)android-intent&t%61rget=https://evil.test/", "target",
      "target=\(base)android-intent&language=en&language=nb",
    ])
  func twice(query: String) { #expect(throws: CallbackFault.self) { try back(query) } }

  // MARK: Any query

  /// SplitMix64 with a fixed seed.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private static let pieces = [
    "scheme=", "language=", "app=", "fallback=", "package=", "target=", "sch%65me=", "&", "&", "&", "=",
    "true",
    "false", "shopapp", "javascript", "https", "com.example.shop", "en", "%20", "%0d%0a", "%22", "%3C", "%",
    "%e2",
    "+", ":", "//", "evil.test", "@", "\\", ";", "'", "`", "#", "\"", "<", ">", " ", "\r\n", "é", "\u{0}",
    "?", "..", "https://pay.example.com", "\(base)ios-universal-link", "\(base)android-intent", "%2F", "end;",
    "scheme=shopapp&language=en", "package=com.example.shop",
  ]

  private static let starts = [
    "", "scheme=shopapp&language=en&", "scheme=ShopApp&language=en&fallback=true&",
    "package=com.example.shop&", "target=\(base)ios-universal-link",
  ]

  @Test(arguments: 0..<4)
  func `No query makes an address lead to another host or break out of its attribute`(seed: UInt64) throws {
    var dice = Dice(state: seed)
    var led = (apps: 0, pages: 0, intents: 0, back: 0)
    for _ in 0..<5000 {
      let count = Int.random(in: 1...9, using: &dice)
      let start = Self.starts.randomElement(using: &dice) ?? ""
      let query = start + (0..<count).map { _ in Self.pieces.randomElement(using: &dice) ?? "" }.joined()
      if let target = try? CallbackTarget("\(Self.root)ios-universal-link?\(query)"),
        let url = try? IOSPaymentURL(target, origin: origin, schemes: nil)
      {
        let location = url.location(trampoline: Self.trampoline)
        #expect(RequestTarget.isPlain("/\(location)"), "\(query)")
        if location.hasSuffix("://pay.example.com\(target.text)") {
          led.apps += 1
          let scheme = location.prefix { $0 != ":" }
          #expect(throws: Never.self) { try CustomScheme(String(scheme)) }
        } else {
          led.pages += 1
          let start = "\(Self.trampoline)?target=https%3A%2F%2Fpay.example.com%2Fv1%2Fshop%2Fswedbank%2F"
          #expect(location.hasPrefix(start), "\(query)")
          #expect(location.filter { $0 == "?" }.count == 1)
          #expect(location.filter { $0 == "&" }.count <= 2)
          #expect(throws: Never.self) { try back(String(location.dropFirst("\(Self.trampoline)?".count))) }
        }
      }
      if let target = try? CallbackTarget("\(Self.root)android-intent?\(query)"),
        let url = try? AndroidPaymentURL(target, origin: origin, packages: nil)
      {
        led.intents += 1
        let parts = url.intent.text.split(separator: "#", omittingEmptySubsequences: false)
        try #require(parts.count == 2, "\(query)")
        #expect(parts[0] == "intent://pay.example.com\(target.text)", "\(query)")
        let fields = parts[1].split(separator: ";").map { $0.prefix { $0 != "=" } }
        #expect(fields == ["Intent", "scheme", "action", "package", "end"], "\(query)")
      }
      if let link = try? back(query) {
        led.back += 1
        #expect(link.target.hasPrefix("\(Self.root)ios-") || link.target.hasPrefix("\(Self.root)and"))
        #expect(RequestTarget.isPlain(link.target), "\(query)")
      }
    }
    #expect(led.apps > 0, "\(led)")
    #expect(led.pages > 0, "\(led)")
    #expect(led.intents > 0, "\(led)")
    #expect(led.back > 0, "\(led)")
  }
}
