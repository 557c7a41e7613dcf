// What the bodies of all connections hold together. Without it clients could fill the memory up to the number
// of connections times the longest body (R8). Any thread; its lock is a leaf and may be taken under a
// connection's.

internal import Platform

/// Bytes for the bodies of a server's requests.
///
/// One client (`AddressGroup`) gets half of them at most, so that it cannot keep the others out.
final class BodyBudget: Sendable {
  private struct State {
    var held = 0
    var heldByAddress: [AddressGroup: Int] = [:]
  }

  private let total: Int
  private let state = Monitor(State())

  init(total: Int) { self.total = max(0, total) }

  /// What is held now.
  var held: Int { state.withLock { $0.held } }

  /// Whether so many bytes could be had now.
  func hasRoom(for bytes: Int64, from address: AddressGroup) -> Bool {
    state.withLock { fits(bytes, address, $0) }
  }

  fileprivate func take(_ bytes: Int, from address: AddressGroup) -> Bool {
    state.withLock { state in
      guard fits(Int64(bytes), address, state) else { return false }
      state.held += bytes
      state.heldByAddress[address, default: 0] += bytes
      return true
    }
  }

  fileprivate func giveBack(_ bytes: Int, from address: AddressGroup) {
    state.withLock { state in
      state.held -= bytes
      let rest = (state.heldByAddress[address] ?? 0) - bytes
      state.heldByAddress[address] = rest > 0 ? rest : nil
    }
  }

  private func fits(_ bytes: Int64, _ address: AddressGroup, _ state: State) -> Bool {
    bytes <= Int64(total - state.held) && bytes <= Int64(total / 2 - (state.heldByAddress[address] ?? 0))
  }
}

/// What one body holds of the budget. Gives it back when it goes, on whatever way that happens.
final class BodyGrant {
  private let budget: BodyBudget
  private let address: AddressGroup
  private var held = 0

  init(_ budget: BodyBudget, address: AddressGroup) {
    self.budget = budget
    self.address = address
  }

  deinit { if held > 0 { budget.giveBack(held, from: address) } }

  /// Holds so many bytes from now on.
  /// - Returns: false when they are not there; it holds what it held before then.
  func grow(to bytes: Int) -> Bool {
    guard budget.take(bytes - held, from: address) else { return false }
    held = bytes
    return true
  }
}
