// Captures under thousands of schedules of lost answers, crashes, delays and lies.

import Domain
import TestSupport
import Testing

@Suite("Captures, torture")
struct CaptureModelTorture {
  @Test func `A customer is charged at most once, and a charge is never taken for anything else`() throws {
    let shop = try AfterpayShop()
    let first = Torture.seed(1)
    var (captured, declined, crashes, calls) = (0, 0, 0, 0)
    for seed in first..<first + UInt64(Torture.size(short: 3000, long: 50_000)) {
      var model = CaptureModel(seed: seed, shop.processor, shop.captures)
      model.play()
      if let fault = Self.fault(of: model) {
        Issue.record("TORTURE_SEED=\(seed): \(fault); \(model.traits); outcomes \(model.outcomes)")
        return
      }
      captured += model.outcome?.kind == .captured ? 1 : 0
      declined += model.outcome?.kind == .declined ? 1 : 0
      crashes += model.crashes
      calls += model.calls
    }
    // The model reaches what it is about.
    #expect(captured > 500)
    #expect(declined > 50)
    #expect(crashes > 500)
    #expect(calls > 5000)
  }

  /// What is wrong after a schedule; nil if nothing is.
  private static func fault(of model: CaptureModel) -> String? {
    if let fault = model.fault { return fault }
    let outcome = model.outcome?.kind
    if model.afterpay.charges > 1 { return "\(model.afterpay.charges) charges" }
    if model.outcomes.dropLast().contains(where: { !$0.allowsAnother }) { return "an outcome changed" }
    if outcome == nil, model.outcomes.isEmpty == false { return "an outcome is lost" }
    guard model.afterpay.charges == 1 else {
      return model.isPaid || outcome == .captured ? "captured without a charge" : nil
    }
    if !model.isPaid { return "a charge that the relay does not know" }
    // A delayed call may capture a payment after the app stopped asking; the follow-up finds it.
    let isLate = model.traits.delaysCalls && outcome == .unconfirmed
    return outcome == .captured || isLate ? nil : "a charge is \(outcome?.rawValue ?? "open")"
  }
}
