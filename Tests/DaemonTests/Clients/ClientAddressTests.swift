// The client's address of requests behind proxies.

import Platform
import Testing

@testable import HTTPServer
@testable import Service

@Suite("Where a client is") struct ClientAddressTests {
  private let proxies = TrustedProxies(
    prefixes: ["127.0.0.1", "::1", "10.0.0.0/8", "2001:db8:1::/48"].compactMap(AddressPrefix.init))

  private func client(_ peer: String, _ lists: [String]) -> String {
    let fields = lists.map { (name: "X-Forwarded-For", value: $0) }
    return proxies.client(RequestSamples.head("POST", "/", fields, from: peer)).text
  }

  @Test func `Only trusted proxies count; the client is the last address that is not a proxy`() {
    #expect(client("203.0.113.9", []) == "203.0.113.9")
    #expect(client("203.0.113.9", ["198.51.100.1"]) == "203.0.113.9")
    #expect(client("127.0.0.1", ["198.51.100.1"]) == "198.51.100.1")
    #expect(client("127.0.0.1", ["1.1.1.1, 198.51.100.1"]) == "198.51.100.1")
    #expect(client("127.0.0.1", ["1.1.1.1, 198.51.100.1, 10.1.2.3"]) == "198.51.100.1")
    #expect(client("127.0.0.1", ["1.1.1.1", "198.51.100.1,10.1.2.3 ,\t10.9.9.9"]) == "198.51.100.1")
    #expect(client("127.0.0.1", ["10.0.0.1, 10.0.0.2"]) == "10.0.0.1")
    #expect(client("127.0.0.1", ["127.0.0.1"]) == "127.0.0.1")
    #expect(client("::1", ["2001:db8:2::7, 2001:db8:1::5"]) == "2001:db8:2::7")
    #expect(client("127.0.0.1", ["198.51.100.1:4711"]) == "198.51.100.1")
    #expect(client("127.0.0.1", ["[2001:db8::1]:4711"]) == "2001:db8::1")
    #expect(client("127.0.0.1", ["::ffff:198.51.100.1"]) == "::ffff:198.51.100.1")
  }

  @Test func `A value that is not an address is ignored, and so are all values to its left`() {
    for text in [
      "", " ", ",", "unknown", "_hidden", "198.51.100.1,", "198.51.100.1,x", "[::2", "1.2.3.4.5", "a:1",
    ] {
      #expect(client("127.0.0.1", [text]) == "127.0.0.1", "\(text)")
    }
    #expect(client("127.0.0.1", ["198.51.100.1, x, 10.0.0.1"]) == "10.0.0.1")
    #expect(client("", ["198.51.100.1"]) == "")
    let undecodable = RequestSamples.rawHead(
      "POST", "/", [("X-Forwarded-For", [0xFF]), ("X-Forwarded-For", Array("198.51.100.1".utf8))])
    #expect(proxies.client(undecodable) == ClientAddress(text: "127.0.0.1", isForwarded: true))
    let endless = String(repeating: "10.0.0.1,", count: 5000) + "10.0.0.2"
    #expect(client("127.0.0.1", [endless]) == "10.0.0.1")
  }

  @Test func `An IPv6 client is its /64, and local requests have no client unless a proxy names one`() {
    func group(_ text: String, isForwarded: Bool = true) -> AddressGroup? {
      ClientAddress(text: text, isForwarded: isForwarded).group
    }
    #expect(group("2001:db8::1") == group("2001:db8::ffff:2"))
    #expect(group("2001:db8::1") != group("2001:db8:0:1::1"))
    #expect(group("::ffff:192.0.2.1") == group("192.0.2.1"))
    #expect(group("127.0.0.1", isForwarded: false) == nil)
    #expect(group("::1", isForwarded: false) == nil)
    #expect(group("127.0.0.1") != nil)
    #expect(group("192.0.2.1", isForwarded: false) != nil)
  }

  @Test func `A network is an address and the bits that count`() throws {
    let network = try #require(AddressPrefix("10.32.0.0/11"))
    let address = { IPAddress($0) }
    for (text, isInside) in [
      ("10.32.0.0", true), ("10.63.255.255", true), ("10.64.0.0", false), ("10.31.255.255", false),
      ("::ffff:10.40.0.1", true), ("::10.40.0.1", false),
    ] {
      #expect(network.contains(try #require(address(text))) == isInside, "\(text)")
    }
    #expect(try #require(AddressPrefix("::/0")).contains(try #require(IPAddress("2001:db8::1"))))
    #expect(try #require(AddressPrefix("0.0.0.0/0")).contains(try #require(IPAddress("8.8.8.8"))))
    for text in [
      "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/8/8", "::/129", "10.0.0.0/+8", "x",
    ] {
      #expect(AddressPrefix(text) == nil, "\(text)")
    }
  }
}
