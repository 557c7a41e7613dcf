// The shapes of the SDKs' requests (SwedbankPay/swedbank-pay-sdk-mobile-example-merchant: the schemas of
// routes/*.js and documentation/swedbankpaysdk_openapi.yaml). A payment order may have members that are not
// named here, because Swedbank Pay adds some and its SDKs send them. Pure; any thread.

enum SwedbankRequestShapes {
  private static let text = RequestShape.text()
  private static let anyText = RequestShape.text(orEmpty: true)

  static let consumers = RequestShape.object(
    ObjectShape(
      required: [
        ("operation", .choice(["initiate-consumer-session"])), ("language", text),
        ("shippingAddressRestrictedToCountryCodes", .list(text)),
      ], isOpen: false))

  static let paymentOrder = RequestShape.object(
    ObjectShape(required: [("paymentorder", .object(order))], isOpen: false))

  /// Recur, UnscheduledPurchase and other operations are for the merchant's server.
  private static let order = ObjectShape(
    required: [
      ("operation", .choice(["Purchase", "Verify"])), ("currency", text), ("amount", .integer),
      ("vatAmount", .integer), ("description", anyText), ("userAgent", text), ("language", text),
      ("urls", .object(urls)), ("payeeInfo", .object(payeeInfo)),
    ],
    optional: [
      ("productName", .choice(["Checkout3", "checkout3"])), ("Checkin", .bool),
      ("gdprDataProcessingAgreement", .bool), ("instrument", text), ("generateUnscheduledToken", .bool),
      ("generateRecurrenceToken", .bool), ("generatePaymentToken", .bool),
      ("disableStoredPaymentDetails", .bool), ("restrictedToInstruments", .list(text)),
      ("payer", .object(payer)), ("orderItems", .list(.object(orderItem))),
      ("riskIndicator", .object(riskIndicator)), ("disablePaymentMenu", .bool), ("paymentToken", text),
      ("initiatingSystemUserAgent", text),
    ],
    exactNames: ["orderItems", "payer"])

  private static let urls = ObjectShape(
    required: [("hostUrls", .list(text)), ("completeUrl", text)],
    optional: [
      ("cancelUrl", text), ("paymentUrl", text), ("callbackUrl", text), ("termsOfServiceUrl", text),
    ],
    exactNames: ["callbackUrl"])

  private static let payeeInfo = ObjectShape(
    required: [("payeeId", anyText), ("payeeReference", .text(orEmpty: true, max: 30))],
    optional: [
      ("payeeName", anyText), ("productCategory", anyText),
      ("orderReference", .text(orEmpty: true, max: 50)), ("subsite", .text(orEmpty: true, max: 40)),
    ],
    exactNames: ["payeeName"])

  private static let payer = ObjectShape(
    required: [],
    optional: [
      ("requireConsumerInfo", .bool), ("digitalProducts", .bool),
      ("shippingAddressRestrictedToCountryCodes", .list(text)), ("checkin", .bool),
      ("gdprDataProcessingAgreement", .bool), ("consumerProfileRef", anyText), ("email", text),
      ("msisdn", text), ("payerReference", text),
    ],
    exactNames: ["payerReference"])

  private static let orderItem = ObjectShape(
    required: [
      ("reference", anyText), ("name", anyText),
      (
        "type",
        .choice(["PRODUCT", "SERVICE", "SHIPPING_FEE", "PAYMENT_FEE", "DISCOUNT", "VALUE_CODE", "OTHER"])
      ), ("class", anyText), ("quantity", .integer), ("quantityUnit", anyText), ("unitPrice", .integer),
      ("vatPercent", .integer), ("amount", .integer), ("vatAmount", .integer),
    ],
    optional: [
      ("itemUrl", anyText), ("imageUrl", anyText), ("description", anyText),
      ("discountDescription", anyText), ("discountPrice", .integer), ("restrictedToInstruments", .list(text)),
    ])

  private static let riskIndicator = ObjectShape(
    required: [],
    optional: [
      // Old SDKs spell the first one so.
      ("deliveryEmailAdress", text), ("deliveryEmailAddress", text),
      ("deliveryTimeFrameIndicator", .choice(["01", "02", "03", "04"])), ("preOrderDate", text),
      ("preOrderPurchaseIndicator", .choice(["01", "02"])),
      ("shipIndicator", .choice(["01", "02", "03", "04", "05", "06", "07"])), ("giftCardPurchase", .bool),
      ("reOrderPurchaseIndicator", .choice(["01", "02"])),
      (
        "pickUpAddress",
        .object(
          ObjectShape(
            required: [],
            optional: ["name", "streetAddress", "coAddress", "city", "zipCode", "countryCode"].map {
              ($0, anyText)
            }))
      ),
    ])

  static let setInstrument = RequestShape.object(
    ObjectShape(
      required: [
        (
          "paymentorder",
          .object(
            ObjectShape(
              required: [("operation", .choice(["SetInstrument"])), ("instrument", text)], isOpen: false))
        )
      ], isOpen: false))

  static let patch = RequestShape.object(
    ObjectShape(
      required: [
        ("href", text),
        (
          "paymentorder",
          .object(
            ObjectShape(
              required: [("operation", .choice(["SetInstrument", "Abort"]))],
              optional: [("instrument", text), ("abortReason", text)]))
        ),
      ], isOpen: false))

  static let expand = RequestShape.object(
    ObjectShape(required: [("resource", text), ("expand", .list(text))], isOpen: false))

  /// `expand` is an object, an array or a string, and has no effect.
  static let tokens = RequestShape.object(
    ObjectShape(required: [("resource", text)], optional: [("expand", .any)], isOpen: false))

  /// The documentation calls `state` also `status`.
  static let deleteToken = RequestShape.object(
    ObjectShape(
      required: [("comment", anyText)],
      optional: [("state", .choice(["Deleted"])), ("status", .choice(["Deleted"]))], isOpen: false))
}
