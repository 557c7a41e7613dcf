// Whose failures are they: the destination's, or those of single receipts? Pure; any thread.

/// What one lane knows of the receipts that failed.
///
/// The breaker is about the destination. A receipt that a destination cannot process fails on each attempt,
/// and must not stop the others. So while deliveries are stopped, each round of probes tries several
/// receipts, and a receipt that failed while another one passed does not count against the destination any
/// more. Not stored: after a restart the next failures teach it again.
public struct DeliveryFailures: Sendable, Equatable {
  /// Different receipts that a round tries, if the destination answered the first one.
  public static let probesPerRound = 5
  /// The maximum number of receipts that are remembered; further ones count against the destination.
  private static let rowsMax = 1000

  /// Receipts that failed since the destination last judged one.
  private var recent: Set<PurchaseRowID> = []
  /// Receipts that failed, and others passed since.
  public private(set) var alone: Set<PurchaseRowID> = []
  /// Receipts that failed in the present round of probes.
  public private(set) var tried: Set<PurchaseRowID> = []
  private var triedPrices: Set<PriceID?> = []
  /// How many other receipts may be tried at once in the present round.
  public private(set) var othersLeft = 0

  public init() {}

  /// A probe at its regular time begins a round.
  public mutating func beginRound() { (tried, triedPrices, othersLeft) = ([], [], Self.probesPerRound) }

  /// Forgets the failures that nothing has passed since: they may be those of an earlier configuration, and
  /// say nothing about single receipts.
  public mutating func forgetRecent() { recent = [] }

  /// The verdict as the receipt's own: no configuration is wrong that others pass with.
  public func own(_ verdict: Verdict, of row: PurchaseRowID) -> Verdict {
    guard alone.contains(row), case .misconfigured(let reason) = verdict else { return verdict }
    return .retry(reason, retryAfter: nil)
  }

  /// Whether a verdict says anything about the destination.
  public func concernsDestination(_ verdict: Verdict, of row: PurchaseRowID, state: Breaker.State) -> Bool {
    switch verdict {
    case .delivered, .refused, .coolDown: true
    case .retry, .misconfigured: state != .closed || !alone.contains(row)
    }
  }

  /// Records a verdict after the breaker has.
  /// - Parameters:
  ///   - wasAnswered: whether the destination got the request, so that another one may pass.
  ///   - before: the breaker's state before the verdict.
  public mutating func record(
    _ verdict: Verdict, of row: PurchaseRowID, price: PriceID?, wasProbe: Bool, wasAnswered: Bool,
    before: Breaker.State, after: Breaker.State
  ) {
    switch verdict {
    case .delivered, .refused:
      recent.remove(row)
      alone.formUnion(recent.prefix(max(0, Self.rowsMax - alone.count)))
      alone.remove(row)
      (recent, tried, triedPrices, othersLeft) = ([], [], [], 0)
    case .retry, .misconfigured:
      if recent.count < Self.rowsMax, !alone.contains(row) { recent.insert(row) }
      guard after != .closed else { return }
      if before == .closed {
        beginRound()
        tried = recent
        othersLeft -= 1
      } else if wasProbe {
        othersLeft -= 1
      }
      tried.insert(row)
      triedPrices.insert(price)
      if !wasAnswered { othersLeft = 0 }
    case .coolDown: othersLeft = 0
    }
  }

  /// The receipt left the queue.
  public mutating func forget(_ row: PurchaseRowID) {
    recent.remove(row)
    alone.remove(row)
  }

  /// Forgets the receipts that fail alone, except those that are still to be sent.
  public mutating func keepAlone(_ pending: Set<PurchaseRowID>) { alone.formIntersection(pending) }

  /// Whether it has failed, and has not passed since.
  public func hasFailed(_ row: PurchaseRowID) -> Bool { recent.contains(row) || alone.contains(row) }

  /// The next receipt to try in a round: one that has not failed and has another price, else one that has not
  /// failed, else any other.
  public func another(
    of candidates: [(row: PurchaseRowID, price: PriceID?)]
  ) -> (row: PurchaseRowID, price: PriceID?)? {
    let open = candidates.filter { !tried.contains($0.row) }
    let unblamed = open.filter { !hasFailed($0.row) }
    return unblamed.first { !triedPrices.contains($0.price) } ?? unblamed.first ?? open.first
  }
}
