// The steps of the backend worker, with a manual clock and a scripted network.

import Domain
import Formats
import HTTPClient
import Partners
import Platform
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service

@Suite("The steps of the backend worker") struct BackendWorkerRunTests {
  /// A request that began with this key for the processor, and asks for an answer that is kept.
  private static func flow(
    key: String, _ answers: @escaping @Sendable (String) -> Void
  ) throws -> BackendFlow {
    let toy = ToyProcessor(token: "t", apiKey: key, apiBase: "https://toy.example")
    let client = BackendClient(
      requestID: "req_1", route: "toy_limits",
      answer: { answers(String(decoding: $0.body, as: UTF8.self)) }, refuse: { _ in })
    let call = BackendCall("GET", "/limits", timeout: .seconds(1))
    return BackendFlow(
      place: AppProcessor("shop", "toy"), endpoint: try #require(toy.backend), client: client,
      step: .cached(call) { reply in
        guard case .answer(let status, _, let body) = reply else {
          return .answer(BackendAnswer(status: 502, body: []))
        }
        return .answer(BackendAnswer(status: status, body: body))
      })
  }

  @Test("The answer to a request that began before a reload with another key is kept for no other request")
  func keptAcrossReload() throws {
    let clock = ManualClock()
    let bench = try Bench([Bench.toyApp()], clock: clock, isStarted: false)
    let network = ScriptedTransport()
    network.use(200) { request in
      request.headers.first { $0.name == ToyProcessor.keyHeader }?.value ?? ""
    }
    let captures = CaptureWorker(try bench.parts(ScriptedTransport(), clock))
    let worker = BackendWorker(try bench.parts(network, clock), captures: captures)
    let answers = Monitor<[String]>([])
    try worker.drive { run throws in
      worker.use(bench.directory)
      for key in ["old", "new", "new"] {
        let isBegun = worker.begin(try Self.flow(key: key) { text in answers.update { $0.append(text) } })
        #expect(isBegun)
        _ = run.step()
        run.handleAnswers(within: .zero)
      }
    }
    #expect(answers.withLock { $0 } == ["old", "new", "new"])
    #expect(network.requests.count == 2, "the last one was kept")
  }
}
