// The simulated destination over real connections.

import Formats
import HTTPClient
import Platform
import Sandbox
import Testing

@Suite struct SandboxDestinationTests {
  private static let whole =
    #"{"user_id":"u","stripe_object_type":"subscription","stripe_object_id":"sub_1","#
    + #""stripe_price_id":"price_1"}"#
  private static let headers = [
    TransferHeader("Content-Type", "application/json"), TransferHeader("X-API-KEY", "key-1"),
    TransferHeader("X-PLATFORM-TYPE", "STRIPE"),
  ]

  /// Sends requests concurrently and returns the answers in the order of the requests.
  private static func send(
    _ bodies: [String], to destination: SandboxDestination, headers: [TransferHeader] = headers,
    method: TransferRequest.Method = .post, url: String? = nil
  ) throws -> [TransferResult] {
    let pool = try TransferPool(connectionsMax: bodies.count)
    for (index, body) in bodies.enumerated() {
      let request = TransferRequest(
        method: method, url: url ?? destination.url, headers: headers, body: Array(body.utf8))
      try pool.start(request, tag: UInt64(index))
    }
    var results: [UInt64: TransferResult] = [:]
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    while results.count < bodies.count, MonotonicInstant.now() < deadline {
      for completion in pool.run(timeout: .seconds(1)) { results[completion.tag] = completion.result }
    }
    return bodies.indices.compactMap { results[UInt64($0)] }
  }

  private static func error(_ result: TransferResult?) throws -> String? {
    guard let body = result?.body, case .array(let errors)? = try JSONValue(parsing: body)["errors"] else {
      return nil
    }
    return errors.first?.stringValue
  }

  @Test func aWholeReceiptGetsAnImportID() throws {
    let seen = Monitor<[SandboxReceipt]>([])
    let destination = try SandboxDestination { receipt in seen.update { $0.append(receipt) } }
    let result = try #require(try Self.send([Self.whole], to: destination).first)
    #expect(result.status == 200)
    #expect(try JSONValue(parsing: result.body)["id"]?.stringValue?.count == 36)
    let receipt = try #require(seen.withLock { $0.first })
    #expect(receipt.method == "POST")
    #expect(receipt.path == "/receipts")
    #expect(receipt.status == 200)
    #expect(receipt.body == Array(Self.whole.utf8))
    #expect(receipt.headers.contains { $0.name == "X-API-KEY" && $0.value == "…" })
    #expect(!receipt.headers.contains { $0.value.contains("key-1") })
  }

  @Test func aMissingOrOtherKeyIsUnknown() throws {
    let destination = try SandboxDestination()
    let without = Self.headers.filter { $0.name != "X-API-KEY" }
    let missing = try Self.send([Self.whole], to: destination, headers: without).first
    #expect(missing?.status == 403)
    #expect(try Self.error(missing) == "unknown api_key")
    destination.behaviour.apiKey = "key-2"
    #expect(try Self.send([Self.whole], to: destination).first?.status == 403)
    destination.behaviour.apiKey = "key-1"
    #expect(try Self.send([Self.whole], to: destination).first?.status == 200)
  }

  @Test(
    arguments: [
      ("APP_STORE", #"{"user_id":"u","original_transaction_id":"1"}"#, "store_product_id"),
      ("PLAY_STORE", #"{"user_id":"u","store_product_id":"p"}"#, "purchase_token"),
      (
        "APPGALLERY",
        #"{"user_id":"u","store_product_id":"p","purchase_token":"t","subscription_id":"s"}"#,
        "account_flag"
      ),
    ])
  func eachStoreHasItsProperties(platform: String, body: String, missing: String) throws {
    let destination = try SandboxDestination()
    let headers = Self.headers.dropLast() + [TransferHeader("X-PLATFORM-TYPE", platform)]
    let whole = body.dropLast() + ",\"\(missing)\":\(missing == "account_flag" ? "0" : "\"x\"")}"
    let results = try Self.send([body, String(whole)], to: destination, headers: Array(headers))
    #expect(results.map(\.status) == [422, 200])
    #expect(try Self.error(results.first) == "missing mandatory property \"\(missing)\"")
  }

  @Test(arguments: ["user_id", "stripe_object_type", "stripe_object_id", "stripe_price_id"])
  func aMissingPropertyIsNamed(name: String) throws {
    let destination = try SandboxDestination()
    let body = Self.whole.replacing("\"\(name)\"", with: "\"other\"")
    let result = try Self.send([body], to: destination).first
    #expect(result?.status == 422)
    #expect(try Self.error(result) == "missing mandatory property \"\(name)\"")
  }

  @Test func whatIsNoReceiptIsRefused() throws {
    let destination = try SandboxDestination()
    #expect(try Self.send(["{"], to: destination).first?.status == 400)
    #expect(try Self.send([""], to: destination, method: .get).first?.status == 405)
    let elsewhere = destination.url.replacing("/receipts", with: "/other")
    #expect(try Self.send([Self.whole], to: destination, url: elsewhere).first?.status == 404)
  }

  @Test func itCanBeMadeToFailAndToSucceedAgain() throws {
    let destination = try SandboxDestination(behaviour: SandboxBehaviour(status: 503))
    #expect(try Self.send([Self.whole], to: destination).first?.status == 503)
    destination.behaviour = SandboxBehaviour()
    #expect(try Self.send([Self.whole], to: destination).first?.status == 200)
  }

  @Test func theSameSeedFailsTheSameRequests() throws {
    func statuses() throws -> [Int?] {
      let destination = try SandboxDestination(behaviour: SandboxBehaviour(failRate: 0.5), seed: 42)
      return try (0..<20).map { _ in try Self.send([Self.whole], to: destination).first?.status }
    }
    let first = try statuses()
    #expect(Set(first) == [200, 503])
    #expect(try statuses() == first)
  }

  @Test func delayedAnswersHoldNoThread() throws {
    let destination = try SandboxDestination(behaviour: SandboxBehaviour(delay: .milliseconds(300)))
    let results = try Self.send(Array(repeating: Self.whole, count: 20), to: destination)
    #expect(results.map(\.status) == Array(repeating: 200, count: 20))
    #expect(results.allSatisfy { $0.duration >= .milliseconds(290) })
    // Sequential requests would have taken six seconds.
    #expect(results.allSatisfy { $0.duration < .seconds(3) })
  }

  @Test func stoppingAnswersWhatWaits() throws {
    let arrived = Monitor(false)
    let destination = try SandboxDestination(behaviour: SandboxBehaviour(delay: .hours(1))) { _ in
      arrived.update { $0 = true }
    }
    let stopping = try WorkerThread(name: "stopping") {
      let _: Bool? = arrived.wait(until: .now().advanced(by: .seconds(300))) { $0 ? true : nil }
      destination.stop()
    }
    let result = try Self.send([Self.whole], to: destination).first
    stopping.join()
    #expect(result?.status == 200)
  }

  @Test func aRelayThatIsNotThereIsAFault() throws {
    let destination = try SandboxDestination()
    let base = "http://127.0.0.1:\(destination.port)"
    var random = SeededGenerator(seed: 1)
    let event = StripeSampleEvents.event(type: "ping", object: [:], now: 0, random: &random)
    // A server without webhooks answers; a stopped one does not.
    #expect(try SandboxClient(base: base + "/").postEvent(app: "ios", event, signature: "t=1").status == 404)
    #expect(try SandboxClient(base: base).status(app: "ios", contextID: "ctx_1").status == 404)
    #expect(
      try SandboxClient(base: base).postContext(app: "ios", user: "u", context: "e30=", key: "k").status
        == 404)
    destination.stop()
    #expect(throws: TransferFailure.self) {
      try SandboxClient(base: base).postEvent(app: "ios", event, signature: "t=1")
    }
  }
}
