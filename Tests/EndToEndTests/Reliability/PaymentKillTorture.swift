// kill -9 at any moment while customers pay through the relay, and while the processors lose answers. At the
// end three ledgers must agree: the processors', the relay's, and that of the merchant's backend.

import Formats
import Glibc
import Platform
import SQLiteStore
import Sandbox
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct PaymentKillTorture {
  private static let suite = "kill -9 during payments"
  private static let kills = Torture.size(short: 4, long: 60)
  private static let customers = 4
  /// The maximum number of payments between two kills.
  private static let paidBetweenMax = 20

  @Test("kill -9 at any moment: no customer is charged twice, and every payment is reported (R1, R3)")
  func killWhilePaying() throws {
    let seed = Torture.seed(20_261_124)
    let port = try ReservedPort()
    let settings = SandboxAfterpaySettings(merchantID: PaymentMarket.merchantID, secret: PaymentMarket.secret)
    // One answer in five is lost after its effect.
    let faults = SandboxFaults(.cut, rate: 0.2, operations: ["capture", "create", "get"])
    let afterpay = try SandboxAfterpay(settings: settings, faults: faults, seed: seed)
    defer { afterpay.stop() }
    let swedbank = try SandboxSwedbank(token: PaymentMarket.token, payeeID: "payee-1", callbackScale: 0.01)
    defer { swedbank.stop() }
    swedbank.faults = SandboxFaults(.cut, rate: 0.2)
    let backend = try Destination()
    defer { backend.stop() }
    let market = PaymentMarket(port: port.number, afterpay: afterpay, swedbank: swedbank)
    let top: JSONValue = ["listen": ["port": .integer(Int64(port.number))]]
    try withRelay(app: market.sections(backend: backend.url), top: top) { relay, purchasely in
      let customers = try Customers(Self.customers, market)
      defer { customers.stop() }
      var random = SeededGenerator(seed: seed)
      for _ in 0..<Self.kills {
        let goal = customers.count + Int.random(in: 1...Self.paidBetweenMax, using: &random)
        try waitUntil("more is paid (seed \(seed))", within: Waiting.patience * 10) {
          customers.count >= goal
        }
        _ = poll(nil, 0, .random(in: 0...40, using: &random))
        #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
        try relay.start()
      }
      (afterpay.faults, swedbank.faults) = (SandboxFaults(), SandboxFaults())
      let (paid, faults) = customers.stop()
      #expect(faults.isEmpty, "\(faults.prefix(3)) (seed \(seed))")
      try compare(paid, market, backend, relay, seed: seed)
      #expect(purchasely.ledger.isEmpty, "only Stripe's purchases go to Purchasely")
    }
  }

  private func compare(
    _ paid: [Customers.Payment], _ market: PaymentMarket, _ backend: Destination, _ relay: Relay, seed: UInt64
  ) throws {
    let connection = try Connection(path: relay.databasePath, mode: .readOnly, busyTimeout: .seconds(10))
    let open = """
      SELECT (SELECT count(*) FROM captures WHERE outcome IS NULL)
        + (SELECT count(*) FROM purchases WHERE state IS NOT NULL AND state <> 'delivered')
      """
    func reported() -> [String: String] {
      backend.ledger.reduce(into: [:]) { reported, entry in
        guard let data = entry.json["data"], let object = data["object_id"]?.stringValue else { return }
        reported[object] = data["user_id"]?.stringValue ?? ""
      }
    }
    func charged() -> Set<String> {
      Set(market.afterpay.checkouts.filter { $0.charges > 0 }.map(\.token))
        .union(market.swedbank.orders.filter { $0.authorizedAmount > 0 }.map(\.id))
    }
    try waitUntil("every payment is reported (seed \(seed))", within: Waiting.patience * 10) {
      try connection.integer(open) == 0 && charged().isSubset(of: reported().keys)
    }
    let (reports, charges) = (reported(), charged())
    for checkout in market.afterpay.checkouts {
      #expect(checkout.charges <= 1, "\(checkout.token) was charged twice (seed \(seed))")
    }
    for payment in paid {
      #expect(reports[payment.object] == payment.user, "\(payment.object) is not reported (seed \(seed))")
      #expect(charges.contains(payment.object), "\(payment.object) was never charged (seed \(seed))")
    }
    for order in market.swedbank.orders where order.authorizedAmount > 0 {
      #expect(order.capturedAmount == order.amount, "\(order.id) is not captured (seed \(seed))")
      let captures = order.transactions.filter { $0.type == "Capture" }
      #expect(captures.count == 1, "\(order.id) was captured twice (seed \(seed))")
    }
    let stray = Set(reports.keys).subtracting(charges)
    #expect(stray.isEmpty, "\(stray.prefix(3)) were reported, and not charged (seed \(seed))")
    #expect(try relay.stop() == 0)
    #expect(try relay.read { try $0.integrityFaults() }.isEmpty)
    Torture.report(Self.suite, "kills survived", Self.kills)
    Torture.report(Self.suite, "payments known to apps", paid.count)
    Torture.report(Self.suite, "payments reported", reports.count)
    Torture.report(Self.suite, "customers charged twice", market.afterpay.checkouts.count { $0.charges > 1 })
    Torture.report(Self.suite, "charged, and not reported", charges.subtracting(reports.keys).count)
  }
}
