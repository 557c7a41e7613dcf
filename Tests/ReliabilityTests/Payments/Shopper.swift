// One customer of an app who pays through the relay, as seen from the phone. A value.

import Domain
import Formats
import Partners
import Platform

/// A payment and what the app knows of it.
struct Shopper {
  enum Intent: CaseIterable {
    case pays
    /// Afterpay declines the payment; Swedbank Pay reports it as failed.
    case isDeclined
    /// The customer cancels on the processor's page.
    case cancels
    /// Nothing happens after the start.
    case leaves
  }

  let number: Int
  let app: String
  let processor: ProcessorName
  let user: UserID
  let intent: Intent
  /// Whether the app orders the capture before the customer has confirmed the payment.
  let isHasty: Bool
  /// Whether the app gives up after a few attempts.
  let givesUp: Bool
  /// The token or the order's id, when the app has learned it.
  var object: String?
  /// The state that an answer to a capture told the app.
  var end: String?
  /// How many answers had a final state.
  var answers = 0

  init(number: Int, app: String, random: inout SeededGenerator) {
    self.number = number
    self.app = app
    processor = Bool.random(using: &random) ? "swedbank" : "afterpay"
    user = UserID("user-\(Int.random(in: 0..<40, using: &random))")
    intent =
      Int.random(in: 0..<3, using: &random) > 0
      ? .pays : Intent.allCases.randomElement(using: &random) ?? .pays
    isHasty = Int.random(in: 0..<8, using: &random) == 0
    givesUp = Int.random(in: 0..<4, using: &random) == 0
  }

  var isSwedbank: Bool { processor == "swedbank" }

  /// The purchase in the relay; nil before the app knows it.
  var key: PurchaseKey? {
    object.map { object in
      PurchaseKey(
        processor: processor, type: PurchaseKey.ObjectType(isSwedbank ? "payment_order" : "payment"),
        id: ObjectID(object))
    }
  }

  /// The request that starts the payment.
  var start: (path: String, body: JSONValue) {
    if isSwedbank {
      let order: JSONValue = [
        "operation": "Purchase", "currency": "SEK", "amount": 1500, "vatAmount": 375,
        "description": "Gold", "userAgent": "Phone/1", "language": "sv-SE", "productName": "Checkout3",
        "urls": [
          "hostUrls": ["https://pay.example.com"], "completeUrl": "https://pay.example.com/complete",
          "cancelUrl": "https://pay.example.com/cancel",
        ],
        "payeeInfo": ["payeeId": "", "payeeReference": ""],
      ]
      return ("paymentorders", ["paymentorder": order])
    }
    let email = intent == .isDeclined ? "decline-\(number)@example.com" : "user-\(number)@example.com"
    return ("checkout", ["email": .string(email), "price": "gold", "isCashAppPay": .bool(number % 2 == 0)])
  }

  /// The request that captures it; nil for a processor that needs none.
  var capture: (path: String, body: JSONValue)? {
    guard !isSwedbank, let object else { return nil }
    return ("capture", ["token": .string(object), "grantId": .string("GRG_\(number)")])
  }

  /// The token or the order's id in the answer to the start; nil if it failed.
  func object(in answer: BackendAnswer?) -> String? {
    guard let answer, (200...201).contains(answer.status), let body = try? JSONValue(parsing: answer.body)
    else { return nil }
    return isSwedbank ? body["paymentOrder"]?["id"]?.stringValue : body["token"]?.stringValue
  }
}
