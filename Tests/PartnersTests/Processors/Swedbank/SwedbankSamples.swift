// Requests, answers and recorded exchanges for the tests of Swedbank Pay's backend.

import Formats

enum SwedbankSamples {
  static func json(_ bytes: [UInt8]) -> JSONValue { (try? JSONValue(parsing: bytes)) ?? .null }

  static let orderV2 = PackageResources.swedbank_paymentorder_v2_json
  static let orderV3 = PackageResources.swedbank_paymentorder_v3_json
  static let fullOrderV2 = PackageResources.swedbank_paymentorder_full_v2_json
  static let checkinOrderV3 = PackageResources.swedbank_paymentorder_checkin_v3_json

  static let consumers: JSONValue = [
    "operation": "initiate-consumer-session", "language": "sv-SE",
    "shippingAddressRestrictedToCountryCodes": ["NO", "SE", "DK"],
  ]

  /// Of the usual order.
  static func operation(
    _ rel: String, method: String = "PATCH", href: String = SwedbankHarness.base + SwedbankHarness.order
  ) -> JSONValue {
    [
      "href": .string(href), "rel": .string(rel), "method": .string(method),
      "contentType": "application/json",
    ]
  }

  /// The answer to the creation of the usual order.
  static func created(_ operations: JSONValue..., id: String = SwedbankHarness.order) -> JSONValue {
    [
      "paymentOrder": [
        "id": .string(id), "instrument": "CreditCard",
        "availableInstruments": ["CreditCard", "Invoice-PayExFinancingSe", "Swish"],
      ],
      "operations": .array(operations),
    ]
  }

  static let createdV2 = created(
    operation("update-paymentorder-setinstrument"),
    operation(
      "view-paymentorder", method: "GET",
      href: "https://ecom.payex.example/paymentmenu.js?token=5a17&culture=sv"
    ))

  static let createdV3 = created(
    operation("set-instrument"), operation("abort"),
    operation("view-checkout", method: "GET", href: "https://ecom.payex.example/checkout/19bd26?culture=sv"))

  static let setInstrument: JSONValue = [
    "paymentorder": ["operation": "SetInstrument", "instrument": "Swish"]
  ]

  static func abort(_ href: String) -> JSONValue {
    [
      "href": .string(href),
      "paymentorder": ["operation": "Abort", "abortReason": "CancelledByConsumer"],
    ]
  }

  static let recurrenceToken = "a7d7d780-98ba-4466-befe-e5428f716c30"
  static let unscheduledToken = "0c43b168-dcd5-45d1-b9c4-1fb8e273c799"

  /// An order whose payment generated tokens.
  static let paidWithTokens: JSONValue = [
    "paymentOrder": [
      "id": .string(SwedbankHarness.order), "status": "Paid",
      "paid": [
        "id": .string(SwedbankHarness.order + "/paid"),
        "tokens": [
          ["type": "recurrence", "token": .string(recurrenceToken), "name": "458109******3517"],
          ["type": "unscheduled", "token": .string(unscheduledToken), "name": "458109******3517"],
        ],
        "details": ["nonPaymentToken": "12345678-1234", "cardBrand": "Visa"],
      ],
    ]
  ]

  /// The stored cards of a payer.
  static func payerTokens(_ tokens: String...) -> JSONValue {
    [
      "payerOwnedPaymentTokens": [
        "id": "/psp/paymentorders/payerownedpaymenttokens/user1", "payerReference": "user1",
        "paymentTokens": .array(
          tokens.map { token in
            [
              "paymentToken": .string(token), "instrument": "CreditCard",
              "instrumentDisplayName": "492500******0004",
              "operations": [
                operation(
                  "delete-paymenttokens",
                  href: "\(SwedbankHarness.base)/psp/creditcard/payments/instrumentdata/\(token)")
              ],
            ]
          }),
      ],
      "operations": [],
    ]
  }
}
