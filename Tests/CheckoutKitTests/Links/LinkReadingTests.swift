// From URLs to routes and back, with an example app's routes.

import CheckoutKit
import Foundation
import Testing

@Suite struct LinkReadingTests {
  static let host = "www.example.com"

  static func router() -> LinkRouter<ExampleRoute> {
    LinkRouter(schemes: ["deeplinkTutorial"], hosts: [host, "Other.Example.com", "localhost:8443"])
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let url: String
    let route: ExampleRoute?
    var testDescription: String { url }
  }

  static let customScheme = [
    // DL01, DL02, DL03: `messages` alone leads to the list, which the article's parser did not support.
    Case(url: "deeplinkTutorial://messages/1", route: .messages(.details("1"))),
    Case(url: "deeplinkTutorial://request/1", route: .request("1")),
    Case(url: "deeplinkTutorial://messages", route: .messages(.root)),
    Case(url: "deeplinkTutorial://activity", route: .activity),
    Case(url: "deeplinkTutorial://new-listing", route: .newListing),
    // DL04: an id is never empty.
    Case(url: "deeplinkTutorial://messages/", route: .messages(.root)),
    Case(url: "deeplinkTutorial://request/", route: nil),
    Case(url: "deeplinkTutorial://request", route: nil),
    Case(url: "deeplinkTutorial://request//", route: nil),
    Case(url: "deeplinkTutorial://messages//1", route: nil),
    Case(url: "deeplinkTutorial://messages/1/", route: .messages(.details("1"))),
    // DL05: split before decoding.
    Case(url: "deeplinkTutorial://request/a%2Fb", route: .request("a/b")),
    Case(url: "deeplinkTutorial://request/a/b", route: nil),
    Case(url: "deeplinkTutorial://request/a%3Fb%23c%25d?x=y#z", route: .request("a?b#c%d")),
    // DL06
    Case(url: "deeplinkTutorial://unknown/1", route: nil),
    Case(url: "other://messages/1", route: nil),
    Case(url: "https://messages/1", route: nil),
    Case(url: "deeplinkTutorial:messages/1", route: nil),
    Case(url: "deeplinkTutorial:///messages/1", route: nil),
    Case(url: "deeplinkTutorial://me:secret@messages/1", route: nil),
    Case(url: "deeplinkTutorial://messages:80/1", route: nil),
    Case(url: "messages/1", route: nil),
    // DL08: scheme and host are case-insensitive, the path is not.
    Case(url: "DEEPLINKTUTORIAL://MESSAGES/Ab", route: .messages(.details("Ab"))),
    Case(url: "deeplinktutorial://Request/aB", route: .request("aB")),
  ]

  @Test(arguments: customScheme)
  func `DL01–DL06, DL08: links under the app's own scheme`(_ item: Case) throws {
    #expect(Self.router().route(for: try url(item.url)) == item.route)
  }

  static let universal = [
    Case(url: "https://www.example.com/messages/1", route: .messages(.details("1"))),
    Case(url: "https://www.example.com/messages", route: .messages(.root)),
    Case(url: "https://www.example.com:443/messages/1", route: .messages(.details("1"))),
    Case(url: "HTTPS://WWW.EXAMPLE.COM/messages/Ab", route: .messages(.details("Ab"))),
    Case(url: "https://other.example.com/request/a%2Fb", route: .request("a/b")),
    Case(url: "https://localhost:8443/request/1", route: .request("1")),
    // Under the app's scheme, an address of the app's host is the same link.
    Case(url: "deeplinkTutorial://www.example.com/messages/1", route: .messages(.details("1"))),
    Case(url: "https://www.example.com/Messages/1", route: nil),
    Case(url: "https://localhost/request/1", route: nil),
    Case(url: "https://www.example.com:8443/messages/1", route: nil),
    Case(url: "https://evil.test/messages/1", route: nil),
    Case(url: "https://www.example.com.evil.test/messages/1", route: nil),
    Case(url: "https://www.example.com@evil.test/messages/1", route: nil),
    Case(url: "https://me@www.example.com/messages/1", route: nil),
    Case(url: "http://www.example.com/messages/1", route: nil),
    Case(url: "https:/messages/1", route: nil),
  ]

  @Test(arguments: universal)
  func `DL07: only universal links of the app's hosts are accepted`(_ item: Case) throws {
    let link = try url(item.url)
    #expect(Self.router().route(for: link) == item.route)
    let handled = Self.router().handle(activityType: UniversalLink.activityType, webpageURL: link)
    #expect(handled == (item.route != nil && item.url.lowercased().hasPrefix("https:")))
  }

  @Test func `Only a browsing activity is a universal link`() throws {
    let link = try url("https://www.example.com/messages/1")
    #expect(!Self.router().handle(activityType: "com.example.editing", webpageURL: link))
    #expect(!Self.router().handle(activityType: UniversalLink.activityType, webpageURL: nil))
    #expect(UniversalLink(link, hosts: [Self.host])?.path == LinkPath("messages", "1"))
    #expect(UniversalLink(try url("https://www.example.com"), hosts: [Self.host])?.path == LinkPath())
  }

  static let ids = [
    "1", "a/b", "a?b", "a#b", "100%", "é", "e\u{301}", "a b", "+", "&=", ";:@", "...", "%2F", "日本", "'\"<>",
    String(repeating: "x", count: 1024),
  ]
  static let routes: [ExampleRoute] =
    [.messages(.root), .activity, .newListing] + ids.map { .messages(.details($0)) }
    + ids.map { .request($0) }

  @Test(arguments: routes)
  func `DL20: a printed link is read as the same route, by scheme and by host`(_ route: ExampleRoute) throws {
    let router = Self.router()
    for link in [router.url(for: route, scheme: "deeplinkTutorial"), router.url(for: route, host: Self.host)]
    {
      let read = router.route(for: try #require(link))
      #expect(read == route)
      // `==` ignores Unicode normalisation; compare bytes.
      #expect(read.map { Array($0.path.segments.joined().utf8) } == Array(route.path.segments.joined().utf8))
    }
  }

  @Test func `DL20: a link that this router would not read as the same place is not printed`() throws {
    let router = Self.router()
    for scheme in ["other", "https", "http"] { #expect(router.url(for: .activity, scheme: scheme) == nil) }
    for host in ["evil.test", "localhost", "localhost:8444", "me@\(Self.host)", "\(Self.host):8443"] {
      #expect(router.url(for: .activity, host: host) == nil, "\(host)")
    }
    // The router's own schemes and hosts, in another case.
    #expect(router.url(for: .activity, scheme: "DeepLinkTutorial") != nil)
    for host in ["WWW.Example.com", "other.example.com", "localhost:8443", "\(Self.host):443"] {
      #expect(router.url(for: .activity, host: host) != nil, "\(host)")
    }
  }

  /// A route that accepts any path.
  private struct AnyRoute: LinkRoute {
    let path: LinkPath
    init(path: LinkPath) { self.path = path }
  }

  @Test("DL20: a route whose first segment is a host of the app has a link by host, and none by scheme")
  func printsNoHostAsSegment() throws {
    let router = LinkRouter<AnyRoute>(schemes: ["shop"], hosts: ["Pay.Example.com", "orders"])
    for first in ["pay.example.com", "orders"] {
      let route = AnyRoute(path: LinkPath(first, "1", query: ["a": "b"]))
      #expect(router.url(for: route, scheme: "shop") == nil)
      let link = try #require(router.url(for: route, host: "pay.example.com"))
      #expect(router.route(for: link)?.path == route.path)
    }
    let other = AnyRoute(path: LinkPath("order", "1", query: ["a": "b"]))
    let link = try #require(router.url(for: other, scheme: "shop"))
    #expect(router.route(for: link)?.path == other.path)
    // The empty path has no link under a custom scheme.
    let root = AnyRoute(path: LinkPath())
    #expect(router.url(for: root, scheme: "shop") == nil)
    let home = try #require(router.url(for: root, host: "orders"))
    #expect(router.route(for: home)?.path == root.path)
  }

  @Test func `DL20: queries survive the round trip, the first of each name`() throws {
    let path = LinkPath("search", query: ["q": "a&b=c d", "empty": "", "é": "/?#%"])
    let link = try #require(path.url(host: Self.host))
    #expect(UniversalLink(link, hosts: [Self.host])?.path == path)
    let repeated = try url("https://www.example.com/search?q=1&q=2&&flag")
    #expect(UniversalLink(repeated, hosts: [Self.host])?.path.query == ["q": "1", "flag": ""])
  }

  static let unusable = [
    "", ".", "..", "\0", "a\u{0}b", "a\nb", "\u{7F}", "\u{85}", String(repeating: "x", count: 1025),
    String(repeating: "é", count: 513),
  ]

  @Test(arguments: unusable)
  func `DL21: ids over 1 kB, with control characters or with dots alone are refused`(_ id: String) throws {
    let router = Self.router()
    #expect(router.url(for: .request(id), scheme: "deeplinkTutorial") == nil)
    #expect(router.url(for: .request(id), host: Self.host) == nil)
    let escaped = id.utf8.map { "%\(String($0 >> 4, radix: 16))\(String($0 & 15, radix: 16))" }.joined()
    #expect(!router.handle(try url("deeplinkTutorial://request/\(escaped)")))
    #expect(!router.handle(try url("https://www.example.com/request/\(escaped)")))
    #expect(!router.handle(notification: ["data": ["requestId": id]]) || [".", ".."].contains(id))
  }

  @Test func `DL21: an escape that cannot be decoded is refused, in paths and queries`() throws {
    let router = Self.router()
    #expect(router.route(for: try url("deeplinkTutorial://request/%FF")) == nil)
    #expect(router.route(for: try url("deeplinkTutorial://activity?x=%FF")) == nil)
    #expect(router.route(for: try url("deeplinkTutorial://activity?x=%00")) == nil)
    #expect(router.route(for: try url("deeplinkTutorial://%FF/1")) == nil)
  }

  @Test(arguments: ["Messages", "a b", "a/b"])
  func `A path whose first word is not a host name has no link under a scheme`(_ first: String) {
    #expect(LinkPath(first, "1").url(scheme: "shop") == nil)
    #expect(LinkPath(first, "1").url(host: Self.host) != nil)
    #expect(LinkPath("a").url(host: "evil.test/x?") == nil)
    #expect(LinkPath("a").url(scheme: "java script") == nil)
  }
}
