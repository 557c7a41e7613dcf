// The toy processor in the conformance suite.

import Domain
import Partners
import TestSupport

extension ProcessorFixture {
  static let toy: ProcessorFixture? = {
    func processor(_ key: String?) -> ToyProcessor {
      ToyProcessor(token: "token-conformance", apiKey: key, apiBase: "https://toy.example")
    }
    func request(_ body: String) -> WebhookRequest {
      WebhookRequest(body: Array(body.utf8), address: "192.0.2.1", pathToken: "token-conformance") {
        $0 == ToyProcessor.keyHeader ? ["key-conformance"] : []
      }
    }
    return ProcessorFixture(
      processor: processor("key-conformance"), withoutKey: processor(nil),
      genuine: [request("e1 paid o1 u1 gold"), request("e2 changed o1")], key: ToyProcessor.order("o1"),
      answers: [Array("paid o1 u1 gold".utf8), Array("open o1 u1 gold".utf8)],
      secrets: ["token-conformance", "key-conformance"])
  }()
}
