// The requests that wait for checkouts, and their limits: a client with many long polls must not exhaust the
// connections that webhooks need. Values, guarded by the lock of CheckoutPolls.

internal import Config
internal import Domain
internal import Platform
internal import Service

/// The limits on waiting requests.
struct LongPollLimits: Sendable, Equatable {
  var total: Int
  var perContext: Int
  /// For one client (`AddressGroup`).
  var perAddress: Int

  init(_ limits: Configuration.Limits = .init()) {
    total = limits.longPolls
    perContext = limits.longPollsPerContext
    perAddress = limits.longPollsPerAddress
  }
}

/// The waiting requests, by context.
struct LongPollQueue {
  struct Waiter {
    let id: UInt64
    let app: AppSlug
    let exchange: Exchange
    /// Nil for this machine, which is not limited.
    let client: AddressGroup?
    let until: MonotonicInstant
    /// When its context expires; no commit notifies this.
    var expiry: MonotonicInstant?

    var nextLook: MonotonicInstant { min(until, expiry ?? until) }
  }

  private let limits: LongPollLimits
  private(set) var byContext: [ContextID: [Waiter]] = [:]
  private var countByClient: [AddressGroup: Int] = [:]
  private(set) var count = 0

  init(_ limits: LongPollLimits) { self.limits = limits }

  /// Whether one more request may wait.
  func hasRoom(contextID: ContextID, client: AddressGroup?) -> Bool {
    guard count < limits.total, (byContext[contextID]?.count ?? 0) < limits.perContext else { return false }
    return client.map { (countByClient[$0] ?? 0) < limits.perAddress } ?? true
  }

  mutating func insert(_ waiter: Waiter, contextID: ContextID) {
    byContext[contextID, default: []].append(waiter)
    if let client = waiter.client { countByClient[client, default: 0] += 1 }
    count += 1
  }

  /// Removes the long polls of a context that satisfy `condition`.
  mutating func remove(_ contextID: ContextID, where condition: (Waiter) -> Bool) -> [Waiter] {
    guard let all = byContext[contextID] else { return [] }
    let removed = all.filter(condition)
    let rest = all.filter { !condition($0) }
    byContext[contextID] = rest.isEmpty ? nil : rest
    for waiter in removed {
      count -= 1
      guard let client = waiter.client, let ofClient = countByClient[client] else { continue }
      countByClient[client] = ofClient > 1 ? ofClient - 1 : nil
    }
    return removed
  }

  /// Clears expiries that have passed, so that they cause no further checks.
  mutating func dropExpiries(_ contextID: ContextID, before now: MonotonicInstant) {
    byContext[contextID] = byContext[contextID]?.map { waiter in
      var waiter = waiter
      if let expiry = waiter.expiry, expiry <= now { waiter.expiry = nil }
      return waiter
    }
  }
}
