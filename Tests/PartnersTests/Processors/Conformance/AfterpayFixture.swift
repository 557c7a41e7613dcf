// Afterpay in the conformance suite. It has no webhooks.

import Domain
import Formats
import Partners

extension ProcessorFixture {
  static let afterpay: ProcessorFixture? = try? makeAfterpay()

  private static func makeAfterpay() throws -> ProcessorFixture {
    let settings = try afterpaySettings()
    return ProcessorFixture(
      processor: AfterpayProcessor(settings, secret: afterpaySecret),
      withoutKey: AfterpayProcessor(settings, secret: nil), genuine: [],
      key: PurchaseKey(processor: AfterpayProcessor.name, type: "payment", id: ObjectID(afterpayToken)),
      answers: [
        afterpayPayment("APPROVED", "CAPTURED").serialized(),
        afterpayPayment("DECLINED", "CAPTURE_DECLINED").serialized(),
      ],
      secrets: [afterpaySecret])
  }
}
