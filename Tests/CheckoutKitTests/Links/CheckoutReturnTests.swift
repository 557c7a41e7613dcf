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
    "PL24: the return address is recognised as a universal link and under the app's scheme",
    arguments: [
      "https://pay.example.com/v1/ios/return?context_id=\(id)",
      "https://back.pay.example.com/v1/ios/return?context_id=\(id)&result=success",
      "exampleapp://pay.example.com/v1/ios/return?context_id=\(id)",
      "ExampleApp://PAY.example.com/v1/ios/return?result=cancel&context_id=\(id)#x",
      "https://pay.example.com:443/v1/ios/return/?context_id=\(id)",
    ])
  func recognises(_ text: String) throws {
    #expect(try Self.read(text) == CheckoutReturn(app: "ios", contextID: Self.id))
  }

  @Test(
    "PL24: any other URL is not a return address",
    arguments: [
      "https://evil.test/v1/ios/return?context_id=\(id)",
      "http://pay.example.com/v1/ios/return?context_id=\(id)",
      "exampleapp://evil.test/v1/ios/return?context_id=\(id)", "exampleapp://v1/ios/return?context_id=\(id)",
      "otherapp://pay.example.com/v1/ios/return?context_id=\(id)",
      "https://pay.example.com/v2/ios/return?context_id=\(id)",
      "https://pay.example.com/v1/ios/return/more?context_id=\(id)",
      "https://pay.example.com/v1/IOS/return?context_id=\(id)",
      "https://pay.example.com/v1/-ios/return?context_id=\(id)",
      "https://pay.example.com/v1/ios/return?context_id=", "https://pay.example.com/v1/ios/return?context_id",
      "https://pay.example.com/v1/ios/return?session_id=",
      "https://pay.example.com/v1/ios/return?session_id=%0A",
      "https://pay.example.com/v1/ios/return?session_id=cs_1&context_id=ctx_1",
      "https://pay.example.com/v1/ios/return?context_id=ctx_1",
      "https://pay.example.com/v1/ios/return?context_id=\(id)0",
      "https://pay.example.com/v1/ios/return?context_id=\(id.lowercased())",
      "https://pay.example.com/v1/ios/return?context_id=rcp_\(id.dropFirst(4))",
      "https://pay.example.com/v1/ios/return?context_id=\(id)%00",
    ])
  func refuses(_ text: String) throws { #expect(try Self.read(text) == nil) }

  @Test(
    "PL24: a return address may have only the processor's session, or no id",
    arguments: [
      ("https://pay.example.com/v1/ios/return", CheckoutReturn(app: "ios")),
      ("exampleapp://pay.example.com/v1/ios/return#context_id=\(id)", CheckoutReturn(app: "ios")),
      ("https://pay.example.com/v1/ios/return?CONTEXT_ID=\(id)", CheckoutReturn(app: "ios")),
      (
        "https://pay.example.com/v1/ios/return?session_id=cs_test_a1",
        CheckoutReturn(app: "ios", sessionID: "cs_test_a1")
      ),
      (
        "exampleapp://pay.example.com/v1/shop/return?session_id=cs_1&context_id=\(id)",
        CheckoutReturn(app: "shop", contextID: id, sessionID: "cs_1")
      ),
    ])
  func knowsLess(_ text: String, _ expected: CheckoutReturn) throws {
    #expect(try Self.read(text) == expected)
    #expect(try Self.read(#require(expected.path.url(host: "pay.example.com")).absoluteString) == expected)
  }

  @Test("CA30: Afterpay's order token is read from the address, with and without a context")
  func readsOrderToken() throws {
    let token = "005.2fkv5o963b132z8ppa34srlh60987y87d55re237wsg9tr4q2"
    let root = "https://pay.example.com/v1/ios/return"
    let back = try Self.read("\(root)?status=SUCCESS&orderToken=\(token)")
    #expect(back == CheckoutReturn(app: "ios", orderToken: token))
    #expect(back?.path.query == ["orderToken": token])
    let both = try Self.read("\(root)?context_id=\(Self.id)&status=CANCELLED&orderToken=\(token)")
    #expect(both == CheckoutReturn(app: "ios", contextID: Self.id, orderToken: token))
    for wrong in ["", "%0A", "a%2Fb", "..", "a%20b"] {
      #expect(try Self.read("\(root)?orderToken=\(wrong)") == nil, "\(wrong)")
    }
  }

  @Test("PL24: a printed return address is read as the same one")
  func printsAndReads() throws {
    let link = CheckoutReturn(app: "ios", contextID: Self.id)
    let printed = try #require(link.path.url(host: "pay.example.com"))
    #expect(printed.absoluteString == "https://pay.example.com/v1/ios/return?context_id=\(Self.id)")
    #expect(try Self.read(printed.absoluteString) == link)
  }
}
