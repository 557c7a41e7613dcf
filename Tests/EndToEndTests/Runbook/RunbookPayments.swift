// The situations of the runbook that concern a payment processor: a stand-in for Swedbank Pay, and the
// merchant's backend. One thread.

import Domain
import Formats
import Glibc
import Platform
import SQLiteStore
import Sandbox
import Store
import TestSupport
import Testing

/// The stand-ins of a section. `stop` must be called.
final class RunbookShop {
  static let token = "merchant-token-of-the-runbook"

  let swedbank: SandboxSwedbank
  let backend: Destination
  private let port: ReservedPort

  /// - Parameter copies: how often each callback is sent.
  init(copies: Int = 1) throws {
    // A refused callback is not repeated while the commands run.
    swedbank = try SandboxSwedbank(token: Self.token, payeeID: "payee-1", callbackScale: 1000)
    swedbank.callbackCopies = copies
    backend = try Destination()
    port = try ReservedPort()
  }

  func stop() {
    swedbank.stop()
    backend.stop()
  }

  /// Changes for the app, and for the rest of the configuration.
  func configuration(_ changes: JSONValue) -> (app: JSONValue, top: JSONValue) {
    let section: JSONValue = [
      "api_base": .string(swedbank.base), "merchant_token": .string(Self.token), "payee_id": "payee-1",
      "public_origin": .string("http://127.0.0.1:\(port.number)"), "callback_from": ["127.0.0.1"],
      "amounts": "client",
    ]
    let secret = "whsec_" + Base64.encode(Array(repeating: 7, count: 32))
    return (
      [
        "swedbank": section.merging(changes),
        "webhook": ["url": .string(backend.url), "secrets": [.string(secret)]],
      ],
      ["listen": ["address": "127.0.0.1", "port": .integer(Int64(port.number))]]
    )
  }

  /// Starts an order as the SDK does.
  /// - Returns: its id.
  func start(_ relay: Relay) throws -> String {
    try SwedbankSDK(relay, headers: ["X-User-Id": "jdo-1"]).start(.v3).id
  }

  /// The customer pays.
  func pay(_ id: String) throws { try #require(swedbank.perform(.pay, on: id)) }
}

extension RunbookScene {
  private static func lookUp(_ relay: Relay, _ what: String, _ condition: (UnfinishedWork) -> Bool) throws {
    let place = AppProcessor("shop", "swedbank")
    try waitUntil(what) {
      let now = Timestamp(unixMilliseconds: SystemClock().wallMilliseconds)
      return condition(try relay.read { try $0.unfinished(place, now: now) })
    }
  }

  /// Waits until receiptd's stored report has troubles with the processor.
  private static func reportsTrouble(_ relay: Relay) throws {
    try waitUntil("receiptd reports the trouble") {
      try relay.read { try $0.serviceReport(.health) }?.content.contains(#""swedbank":{"#) == true
    }
  }

  private static func fetch(_ relay: Relay, _ id: String) throws {
    let words = relay.receiptctlCommand + ["payments", "fetch", id]
    try #require(try ShellRun(words).code == 0)
  }

  static func processorDown() throws -> RunbookScene {
    let shop = try RunbookShop()
    var scene = RunbookScene(prepare: { relay, _ in
      let id = try shop.start(relay)
      shop.swedbank.faults = SandboxFaults(.error, status: 503, operations: ["get"])
      try shop.pay(id)
      try lookUp(relay, "the fetch fails") { $0.unansweredLookups > 0 }
      try waitUntil("the failure is stored") {
        try relay.read { try $0.troubledPayments(AppProcessor("shop", "swedbank"), limit: 1) }.count == 1
      }
    })
    scene.before = [
      1: { _, _ in shop.swedbank.faults = SandboxFaults() },
      2: { relay, _ in
        let id = try #require(shop.swedbank.orders.first).id
        try relay.reaches(.delivered, id)
      },
    ]
    scene.shop = shop
    return scene
  }

  static func processorRefuses() throws -> RunbookScene {
    let shop = try RunbookShop(copies: 0)
    var scene = RunbookScene(prepare: { relay, _ in
      let id = try shop.start(relay)
      try shop.pay(id)
      try change(relay, ["swedbank": ["merchant_token": "a-revoked-token"]])
      relay.signal(SIGHUP)
      try waitUntil("the configuration is read again") { relay.log.contains("configuration read again") }
      try fetch(relay, id)
      try reportsTrouble(relay)
    })
    scene.before = [
      1: { relay, _ in try change(relay, ["swedbank": ["merchant_token": .string(RunbookShop.token)]]) },
      3: { relay, _ in try relay.reaches(.delivered, try #require(shop.swedbank.orders.first).id) },
    ]
    scene.shop = shop
    return scene
  }

  static func callbacksMissing() throws -> RunbookScene {
    let shop = try RunbookShop()
    var scene = RunbookScene(prepare: { relay, _ in
      let id = try shop.start(relay)
      try shop.pay(id)
      try relay.reaches(.delivered, id)
      try waitUntil("receiptd reports both troubles") {
        let report = try relay.read { try $0.serviceReport(.health) }?.content ?? ""
        return report.contains("unreported") && report.contains(#""sender":"#)
      }
    })
    scene.before = [
      2: { relay, _ in
        try change(relay, ["swedbank": ["callback_from": ["127.0.0.1"], "settle_after": "15m"]])
      },
      3: { relay, _ in
        let id = try shop.start(relay)
        try shop.pay(id)
        try relay.reaches(.delivered, id)
      },
    ]
    scene.shop = shop
    scene.swedbank = ["callback_from": ["192.0.2.1"], "settle_after": "1s"]
    return scene
  }

  /// An order that is authorised, and whose capture by the relay was given up.
  static func captureUnknown() throws -> RunbookScene {
    let shop = try RunbookShop()
    var scene = RunbookScene(prepare: { relay, _ in
      let id = try shop.start(relay)
      try #require(shop.swedbank.perform(.authorize, on: id))
      try relay.reaches(.delivered, id)
      // The commands alone cause what is shown.
      shop.swedbank.callbackCopies = 0
      try #require(try relay.stop() == 0)
      let connection = try Connection(path: relay.databasePath, mode: .readWrite, busyTimeout: .seconds(300))
      let now = SystemClock().wallMilliseconds
      try connection.prepare(
        """
        INSERT INTO captures (app, processor, purchase_row, ordered_at, failures, retry_at, last_trouble,
          outcome, status, body, ended_at)
        SELECT app, processor, row_id, ?1 - 604800000, 174, ?1 - 3600000, 'timeout', 'abandoned', 504, x'',
          ?1 - 3600000
        FROM purchases WHERE object_id = ?2
        """
      ).run([.integer(now), .text(id)])
      try relay.start()
    })
    scene.before = [
      2: { _, _ in
        let id = try #require(shop.swedbank.orders.first).id
        try #require(shop.swedbank.perform(.capture, on: id))
      },
      3: { relay, _ in try lookUp(relay, "the capture is known") { $0.abandonedCaptures == 0 } },
    ]
    scene.shop = shop
    return scene
  }
}
