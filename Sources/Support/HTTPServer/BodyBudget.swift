// Limits the bytes that the bodies of all connections hold together. Without this limit, clients could fill
// the memory up to the number of connections times the longest body (R8). Thread-safe. Its lock is a leaf and
// may be acquired under a connection's lock.

internal import Platform

/// Bytes for the bodies of a server's requests.
///
/// One client (`AddressGroup`) gets at most half of them, so one client cannot exclude the others.
final class BodyBudget: Sendable {
  private struct State {
    var held = 0
    var heldByAddress: [AddressGroup: Int] = [:]
  }

  private let total: Int
  private let state = Monitor(State())

  init(total: Int) { self.total = max(0, total) }

  /// The bytes in use.
  var held: Int { state.withLock { $0.held } }

  /// Whether this number of bytes is available now.
  func hasRoom(for bytes: Int64, from address: AddressGroup) -> Bool {
    state.withLock { fits(bytes, address, $0) }
  }

  /// Whether the address's own share has room for this number of bytes.
  func hasRoomInShare(for bytes: Int64, of address: AddressGroup) -> Bool {
    state.withLock { bytes <= Int64(total / 2 - ($0.heldByAddress[address] ?? 0)) }
  }

  fileprivate func acquire(_ bytes: Int, from address: AddressGroup) -> Bool {
    state.withLock { state in
      guard fits(Int64(bytes), address, state) else { return false }
      state.held += bytes
      state.heldByAddress[address, default: 0] += bytes
      return true
    }
  }

  fileprivate func release(_ bytes: Int, from address: AddressGroup) {
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

/// The part of the budget that one body holds. `deinit` releases it.
final class BodyGrant {
  private let budget: BodyBudget
  private let address: AddressGroup
  private(set) var held = 0

  init(_ budget: BodyBudget, address: AddressGroup) {
    self.budget = budget
    self.address = address
  }

  deinit { if held > 0 { budget.release(held, from: address) } }

  /// Grows the grant to this number of bytes.
  /// - Returns: false when the bytes are not available; the grant is then unchanged.
  func grow(to bytes: Int) -> Bool {
    guard budget.acquire(bytes - held, from: address) else { return false }
    held = bytes
    return true
  }
}
