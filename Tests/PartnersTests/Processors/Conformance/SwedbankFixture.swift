// Swedbank Pay in the conformance suite.

import Domain
import Formats
import Partners

extension ProcessorFixture {
  static let swedbank: ProcessorFixture? = try? makeSwedbank()

  private static func makeSwedbank() throws -> ProcessorFixture {
    let samples = SwedbankSamples.json(PackageResources.swedbank_callbacks_json)
    let token = try SwedbankHarness.callbackToken()
    return ProcessorFixture(
      processor: try SwedbankHarness.processor(), withoutKey: try SwedbankHarness.processor(token: nil),
      genuine: [],
      hints: ["v3_0", "v3_1"].compactMap { samples[$0]?.serialized() }.map { body in
        WebhookRequest(body: body, address: SwedbankHarness.sender, pathToken: token) { _ in [] }
      },
      key: SwedbankHarness.key("/psp/paymentorders/34761895-d1e4-412a-0a30-08dc43423140"),
      answers: [samples["getResponsePaid"]?.serialized() ?? []], secrets: [SwedbankHarness.token, token])
  }
}
