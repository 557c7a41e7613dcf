// Examples of Afterpay's, Cash App Pay's and Swedbank Pay's documentation, and answers of a relay to them.

import CheckoutKit
import Foundation

enum PaymentExample {
  // MARK: Afterpay at the relay

  static let token = "005.2fkv5o963b132z8ppa34srlh60987y87d55re237wsg9tr4q2"
  static let page = "https://portal.sandbox.afterpay.com/us/checkout/?token=\(token)"
  static let started = #"{"token":"\#(token)","url":"\#(page)"}"#
  static let grant = "GRG_example"
  static let approved =
    #"{"id":"12345678","token":"\#(token)","status":"APPROVED","paymentState":"CAPTURED","#
    + #""originalAmount":{"amount":"50.00","currency":"USD"}}"#
  static let declined =
    #"{"id":"12345679","token":"\#(token)","status":"DECLINED","paymentState":"CAPTURE_DECLINED"}"#

  static func state(_ state: String, of token: String = token) -> String {
    #"{"token":"\#(token)","state":"\#(state)","amount":"50.00","currency":"USD"}"#
  }

  static func problem(_ slug: String, _ status: Int) -> String {
    #"{"type":"urn:receiptd:problem:\#(slug)","title":"\#(slug)","status":\#(status),"detail":"d"}"#
  }

  static let problemHeaders = ["Content-Type": "application/problem+json"]

  static func refusal(_ status: Int, _ slug: String) -> ScriptedTransport.Step {
    .answer(status, problem(slug, status), headers: problemHeaders)
  }

  static let configuration =
    #"{"minimumAmount":{"amount":"10.00","currency":"USD"},"maximumAmount":{"amount":"2000.00","#
    + #""currency":"USD"},"locale":{"identifier":"en_US","language":"en","country":"US"}}"#

  // MARK: Cash App Pay

  /// Header, payload and signature of the documented order.
  static let segments = [
    "eyJraWQiOiJrZXkxIiwiYWxnIjoiRVMyNTYiLCJ0dGwiOiIxNzE3NDM3Nzc1In0",
    "eyJleHRlcm5hbE1lcmNoYW50SWQiOiJNTUlfNm52Z3U5dm93ZWFnd3Q1ZG4wa2R0ZWFpbyIsInRva2VuIjoiMDAyLmlscXFqZjJ1"
      + "ZG11MnJwM3hjdTdjYjZtenVwNnRlZndiM2Q1eWs2Y3pyZnZqd3Nmb2NuIiwiYW1vdW50Ijp7ImFtb3VudCI6IjUwLjAwIiwiY3Vy"
      + "cmVuY3kiOiJVU0QiLCJzeW1ib2wiOiIkIn0sInJlZGlyZWN0VXJsIjoiaHR0cHM6Ly9zdGF0aWMtdXMuYWZ0ZXJwYXkuY29tL2ph"
      + "dmFzY3JpcHQvYnV0dG9uL2luZGV4Lmh0bWwifQ",
    "KRVxIHwrH_QPDTX2WF3Ei5wI7InE_v7xvPDDXFF2YBka2hUROkSX6ubdrFufIkE6yaFHyrlAGoQiS17VB80IDA",
  ]
  static let jwt = segments.joined(separator: ".")

  static func signed(_ jwt: String) -> String {
    #"{"jwtToken":"\#(jwt)","redirectUrl":"https://static-us.afterpay.com","externalBrandId":"BRAND_ID"}"#
  }

  /// A signed order with another payload.
  static func signed(payload: String) -> String {
    signed([segments[0], base64url(payload), segments[2]].joined(separator: "."))
  }

  static func payload(
    amount: String = #"{"amount":"50.00","currency":"USD","symbol":"$"}"#,
    redirect: String = #""https://static-us.afterpay.com/javascript/button/index.html""#,
    merchant: String = #""MMI_1""#
  ) -> String {
    #"{"externalMerchantId":\#(merchant),"token":"002.x","amount":\#(amount),"redirectUrl":\#(redirect)}"#
  }

  static func base64url(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").trimmingCharacters(in: ["="])
  }

  static func validated(_ status: String = "SUCCESS") -> String {
    #"{"cashAppTag":"$jane","status":"\#(status)","callbackBaseUrl":"https://example.com"}"#
  }

  // MARK: Swedbank Pay

  static let orderID = "/psp/paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce"
  static let script =
    "https://ecom.externalintegration.payex.com/checkout/core/js/px.checkout.client.js?token=5a17c24e"
  static let redirect = "https://ecom.externalintegration.payex.com/checkout/5a17c24e"

  static func order(_ name: String = "paymentOrder", href: String = redirect) -> String {
    #"{"\#(name)":{"id":"\#(orderID)","instrument":"CreditCard"},"operations":["#
      + #"{"href":"https://api.payex.com\#(orderID)","rel":"abort","method":"PATCH"},"#
      + #"{"href":"\#(href)","rel":"redirect-checkout","method":"GET"},"#
      + #"{"href":"\#(script)","rel":"view-checkout","contentType":"application/javascript"}]}"#
  }

  /// A client for the examples' user.
  static func afterpay(
    _ transport: any Transport, userID: String? = "jdo-1", contextID: String? = nil,
    credential: RelayClient.Credential = .clientKey("key-1"), clock: any CheckoutClock = InstantClock(),
    relay: String = "https://pay.example.com"
  ) throws -> AfterpayCheckout {
    AfterpayCheckout(
      relay: try Example.client(transport, credential: credential, clock: clock, relay: relay),
      userID: userID, contextID: contextID)
  }
}
