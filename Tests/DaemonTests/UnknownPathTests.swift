// The answers to paths that no route has.

import Formats
import HTTPServer
import Service
import Testing

@Suite("Unknown paths") struct UnknownPathTests {
  @Test(
    "Below the root of a merchant backend, the answer has the form that its SDKs parse",
    arguments: [
      ("/v1/shop/swedbank/unknown", "https://api.payex.com/psp/errordetail/notfound"),
      ("/v1/shop/users/u1/swedbank/unknown/more", "https://api.payex.com/psp/errordetail/notfound"),
      ("/v1/shop/swedbankx/unknown", "urn:receiptd:problem:not-found"),
      ("/v1/shop/unknown", "urn:receiptd:problem:not-found"),
      ("/v1/shop/webhooks/unknown", "urn:receiptd:problem:not-found"),
    ])
  func form(path: String, type: String) throws {
    let bench = try Bench([Bench.app()], isStarted: false)
    guard case .answer(let response) = bench.listener().admit(RequestSamples.head("GET", path)) else {
      return #expect(Bool(false), "\(path) was admitted")
    }
    #expect(response.status == 404)
    #expect(try JSONValue(parsing: response.body)["type"]?.stringValue == type)
  }
}
