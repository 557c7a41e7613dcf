// The relay's return address, as a universal link and under the app's scheme.

import CheckoutKit
import Foundation
import Testing

@Suite struct CheckoutReturnTests {
  static let id = Example.id
  static let hosts: Set<String> = ["pay.example.com", "back.pay.example.com"]

  static func read(_ text: String) throws -> CheckoutReturn? {
    CheckoutReturn(try url(text), hosts: hosts, schemes: ["exampleapp"])
  }

  @Test(
    "PL24, CA30: the return address is read as all kits read it, and printed",
    arguments: try KitTables.links().links)
  func reads(_ row: KitTables.Link) throws {
    let back = try Self.read(row.url)
    #expect(back?.path.query == row.return)
    guard let back else { return }
    #expect(back.app == "shop")
    #expect(back.contextID == row.return?["context_id"])
    #expect(back.sessionID == row.return?["session_id"])
    #expect(back.orderToken == row.return?["orderToken"])
    #expect(try Self.read(#require(back.path.url(host: "pay.example.com")).absoluteString) == back)
  }

  @Test func `PL24: each of the relay's hosts is its own`() throws {
    let text = "https://back.pay.example.com/v1/ios/return?context_id=\(Self.id)&result=success"
    #expect(try Self.read(text) == CheckoutReturn(app: "ios", contextID: Self.id))
  }

  @Test func `PL24: a printed return address is read as the same one`() throws {
    let link = CheckoutReturn(app: "ios", contextID: Self.id)
    let printed = try #require(link.path.url(host: "pay.example.com"))
    #expect(printed.absoluteString == "https://pay.example.com/v1/ios/return?context_id=\(Self.id)")
    #expect(try Self.read(printed.absoluteString) == link)
  }
}
