import Domain
import Testing

@Suite("What a search may mean")
struct FindQueryTests {
  private static let folders = ["/psp/paymentorders/"]

  private func query(_ text: String) throws -> FindQuery {
    try #require(FindQuery(text, folders: Self.folders))
  }

  @Test func `Spaces around a text are left out, and what cannot be an id is refused`() throws {
    #expect(try query(" \tcus_1\n").ids == ["cus_1"])
    for text in ["", "  ", "a\u{0}b", "a\nb", String(repeating: "a", count: 256)] {
      #expect(FindQuery(text, folders: []) == nil, "\(text)")
    }
  }

  @Test func `The relay's ids are found in small letters and without their prefix`() throws {
    let id = "01M8CK8MXV00000003RQSS0E0J"
    #expect(try query("rcp_\(id.lowercased())").ids.contains("rcp_\(id)"))
    #expect(try query("CTX_\(id)").ids.contains("ctx_\(id)"))
    #expect(try query(id.lowercased()).ids.contains("rcp_\(id)"))
    #expect(try query(id).ids.contains("ctx_\(id)"))
    #expect(try query("sub_\(id)").ids == ["sub_\(id)"])
  }

  @Test func `A URL is searched for as its path and its last part, a portal's id as a path`() throws {
    let url = "https://dashboard.stripe.com/test/payments/pi_3MtwBwLkdIwHu7ix?tab=logs#top"
    #expect(try query(url).ids == [url, "/test/payments/pi_3MtwBwLkdIwHu7ix", "pi_3MtwBwLkdIwHu7ix"])
    let order = "09ccd29a-7c4f-4752-9396-12100cbfecce"
    #expect(try query(order).ids == [order, "/psp/paymentorders/\(order)"])
    let path = "https://api.payex.com/psp/paymentorders/\(order)"
    #expect(try query(path).ids.contains("/psp/paymentorders/\(order)"))
    #expect(try query("https://").ids == ["https://"])
  }

  @Test(
    "The beginning of an id needs six characters after its prefix",
    arguments: [
      ("sub_123456", true), ("sub_12345", false), ("cs_test_123456", true), ("cs_test_12345", false),
      ("123456", true), ("jdo-1", false), ("rcp_01M8CK", true), ("rcp_", false),
      ("/psp/paymentorders/09ccd2", true), ("/psp/paymentorders/09cc", false),
    ])
  func parts(text: String, isLongEnough: Bool) throws {
    #expect(try query(text).beginnings.contains(text) == isLongEnough)
  }

  @Test func `The end of a receipt's id has the row of its purchase`() throws {
    #expect(try query("0000000233RQSS0E").receiptRow == 2)
    #expect(try query("mxv0000000233rqss0e").receiptRow == 2)
    for text in ["233RQSS0E", "rcp_0000000233RQSS0E", "0000000233RQSS0L", "sub_000000023RQSS0E"] {
      #expect(try query(text).receiptRow == nil, "\(text)")
    }
  }

  @Test func `An address is personal data`() throws {
    #expect(try query("ann@example.com").isAddress)
    #expect(try query("ann@example.com").ids == ["ann@example.com"])
    #expect(try !query("sub_1").isAddress)
  }
}
