// Swedbank Pay's helpers without a socket: they need no store, and a query changes only the one URL in a
// page.

import Formats
import FoundationEssentials
import Platform
import Testing

@testable import Config
@testable import HTTPServer
@testable import Service
@testable import Web

@Suite("Swedbank Pay's helpers") struct SwedbankHelpersTests {
  static let root = "/v1/shop/swedbank/"
  static let origin = "https://pay.example.com"

  private static func app() throws -> AppConfiguration {
    var app = Bench.app()
    app.links = .init(
      origin: try WebOrigin(origin), returnPage: .init(name: "\"Kaffe\" <& Te>"), swedbank: .init())
    return app
  }

  private static let targets = [
    "\(root)sdk-callback/android-intent?package=a.b", "\(root)complete", "\(root)cancel",
    "\(root)sdk-callback/ios-universal-link?scheme=a&language=en",
    "\(root)sdk-callback/ios-universal-link?scheme=a&language=en&fallback=true",
    "/v1/shop/trampoline?target=\(origin)\(root)sdk-callback/ios-universal-link",
  ]

  @Test("Helpers answer while nothing can be stored, and change no byte of the database (SC16)")
  func nothingWritten() throws {
    let bench = try Bench([Self.app()], isStarted: false)
    let server = try bench.serve()
    func files() throws -> [Data] {
      try ["", "-wal"].map { try Data(contentsOf: URL(filePath: bench.path + $0)) }
    }
    let before = try files()
    for target in Self.targets {
      let client = try RawClient(port: server.port)
      try client.get(target)
      #expect(try [200, 301].contains(client.reply().status), "\(target)")
    }
    #expect(try files() == before)
  }

  @Test("SW32: The pages of complete and cancel differ without a context, and say nothing that may be false")
  func completeAndCancel() throws {
    let bench = try Bench([Self.app()])
    let server = try bench.serve()
    func page(_ target: String) throws -> String {
      let client = try RawClient(port: server.port)
      try client.get(target)
      return String(decoding: try client.reply().body, as: UTF8.self)
    }
    let words = PageLanguage.en.words
    let pages = [("complete", ReturnOutcome.Back.finished), ("cancel", .left)]
    for (name, back) in pages {
      let page = try page("\(Self.root)\(name)")
      for (_, other) in pages {
        let heading = words[other].heading.text
        #expect(page.contains("<h1>\(heading)</h1>") == (other == back), "\(name)")
      }
      #expect(page.contains("cannot show the status of your payment"))
      #expect(!page.contains(words[.paid].heading.text))
    }
    // The page of a context says what became of it, whichever of the two led to it.
    let unknown = try page("\(Self.root)complete?context_id=ctx_01J9ZZZZZZZZZZZZZZZZZZZZZZ")
    #expect(!unknown.contains(words[.finished].heading.text))
  }

  private static let pieces = [
    "&", "&", "=", "%22", "%3C", "%0d%0a", "%", "'", "`", ";", "\\", "{", "}", "|", "^", "+", "//evil.test",
    "javascript:", "&amp;", "&#34;", "&quot;", "end;", "S.browser_fallback_url=", "\"", "<", ">", "#", " ",
    "\r\n", "\u{0}", "é", "</a>", "\"onclick=x", "fallback=true", "package=c.d", "-->", "scheme=javascript",
  ]

  /// The page must differ from the one for a harmless URL only in that URL.
  @Test("No query makes a page with an open quotation mark or another address, nor a field with a line break")
  func anyQuery() throws {
    let helpers = try #require(SwedbankHelpers(try App(Self.app())))
    let callback = "\(Self.root)sdk-callback/"
    func android(_ query: String) -> Result<Response, Problem> {
      helpers.androidIntent(RequestSamples.head("GET", "\(callback)android-intent?\(query)"))
    }
    func trampoline(_ query: String) -> Result<Response, Problem> {
      helpers.trampoline(RequestSamples.head("GET", "/v1/shop/trampoline?\(query)"))
    }
    let link = "\(Self.origin)\(callback)ios-universal-link"
    let plain = ("package=a.b&x=1", "target=\(link)?x=1")
    let pages = (
      android: String(decoding: try android(plain.0).get().body, as: UTF8.self).replacing(
        "android-intent?package=a.b&amp;x=1#Intent", with: "#"),
      trampoline: String(decoding: try trampoline(plain.1).get().body, as: UTF8.self).replacing(
        "link?x=1", with: "link?")
    )
    var taken = 0
    var random = SeededGenerator(seed: 7)
    for _ in 0..<3000 {
      let nasty = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        Self.pieces.randomElement(using: &random) ?? ""
      }.joined()
      if case .success(let response) = android("package=a.b&x=1\(nasty)") {
        taken += 1
        let shown = Self.escaped("android-intent?package=a.b&x=1\(nasty)#Intent")
        let page = String(decoding: response.body, as: UTF8.self)
        #expect(page.replacing(shown, with: "#") == pages.android, "\(nasty)")
      }
      let encoded = nasty.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      if case .success(let response) = trampoline("target=\(link)?\(encoded)") {
        taken += 1
        let page = String(decoding: response.body, as: UTF8.self)
        #expect(page.replacing("link?\(Self.escaped(nasty))", with: "link?") == pages.trampoline, "\(nasty)")
      }
      let target = "\(callback)ios-universal-link?scheme=a&language=en&x=1\(nasty)"
      if case .success(let response) = helpers.iosUniversalLink(RequestSamples.head("GET", target)) {
        taken += 1
        for (name, value) in response.headers {
          #expect(value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && !"\"<>".utf8.contains($0) }, "\(nasty)")
          guard name == "Location", value != "a://pay.example.com\(target)" else { continue }
          #expect(
            value.hasPrefix(
              "\(AppConfiguration.Links.Swedbank.defaultTrampoline)?target=https%3A%2F%2Fpay.example.com%2F"))
        }
      }
    }
    #expect(taken > 1000)
  }

  /// The expected escaping of a text.
  private static func escaped(_ text: String) -> String {
    [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")]
      .reduce(text) { $0.replacing($1.0, with: $1.1) }
  }
}
