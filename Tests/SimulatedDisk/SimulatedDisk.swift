// A disk in memory, for tests of power loss and disk failures. It is a SQLite VFS
// (https://www.sqlite.org/vfs.html), registered under its own name and never as the default. Thread-safe;
// each call is atomic.

internal import CSQLite
internal import Platform

/// A disk that keeps synced data apart from written data, and that fails on request.
///
/// Databases on it are opened with `path(of:)`; write-ahead logs and shared memory work, from several
/// connections and threads. Connections from before a crash are dead: every call fails, and they can be
/// closed at any time. The calls and the seed alone determine the outcome.
public final class SimulatedDisk: Sendable {
  /// The operations of a disk. The n-th of each kind can be made to fail, and each kind is counted.
  public enum Operation: Sendable, CaseIterable {
    case open, read, write, sync, truncate, fileSize, lock, memoryMap, memoryLock, delete, access
  }

  /// The properties of the disk.
  public struct Properties: Sendable {
    /// The bytes that are written or lost together: 512 or 4096.
    public var sectorBytes: Int
    /// Whether a torn write leaves the other bytes of its sector unchanged. SQLite relies on it where the VFS
    /// claims it, as the one for Unix does (https://www.sqlite.org/psow.html).
    public var isPowersafe: Bool
    /// Whether SQLite's wait for a lock takes real time. Two threads need it; a single thread must not wait.
    public var waitsForReal: Bool

    public init(sectorBytes: Int = 4096, isPowersafe: Bool = true, waitsForReal: Bool = false) {
      self.sectorBytes = sectorBytes
      self.isPowersafe = isPowersafe
      self.waitsForReal = waitsForReal
    }
  }

  private let volume: Volume

  /// - Parameter seed: decides what the disk leaves to chance: how much of a failed write or sync reached it,
  ///   and SQLite's random numbers.
  public convenience init(seed: UInt64 = 1, _ properties: Properties = Properties()) {
    self.init(Volume(VolumeState(seed: seed, properties)))
  }

  private init(_ volume: Volume) { self.volume = volume }

  /// The `Connection(path:)` of a file on this disk. The disk must exist while the connection is opened.
  public func path(of file: String = "relay.db") -> String { "file:/\(file)?vfs=\(volume.name)" }

  // MARK: - Process death and power loss

  /// Kills the process: written data stays, locks and shared memory are gone.
  public func kill() { volume.monitor.withLock { $0.kill() } }

  /// Drops data that a failed sync lost, as `FileCache.forget` does for every file. Call it while no file is
  /// open.
  public func forgetCache() { volume.monitor.withLock { $0.forgetCache() } }

  /// Cuts the power and restores it: unsynced data is kept, lost or torn, sector by sector.
  public func crash(random: inout some RandomNumberGenerator) {
    volume.monitor.withLock { $0.crash(random: &random) }
  }

  /// A copy of this disk after a crash at this moment, without faults and watcher. This disk is unchanged.
  public func afterCrash(random: inout some RandomNumberGenerator, seed: UInt64 = 1) -> SimulatedDisk {
    SimulatedDisk(
      Volume(
        volume.monitor.withLock { state in
          var copy = state.copy(seed: seed)
          copy.crash(random: &random)
          return copy
        }))
  }

  /// A copy of this disk after `kill` at this moment, without faults and watcher. This disk is unchanged.
  public func afterKill(seed: UInt64 = 1) -> SimulatedDisk {
    SimulatedDisk(Volume(volume.monitor.withLock { $0.copy(seed: seed) }))
  }

  // MARK: - Faults

  /// Makes an operation fail.
  /// - Parameters:
  ///   - nth: which of the coming ones, from 1.
  ///   - forEver: whether all later ones fail, too, until `heal`.
  ///   - code: the result for SQLite; nil for the code of its VFS for Unix. A failed sync behaves as on
  ///     Linux: each write since the last sync is then durable or lost, and the next sync does not report it.
  public func fail(_ operation: Operation, nth: Int, forEver: Bool = false, code: Int32? = nil) {
    volume.monitor.withLock {
      $0.faults.append(Fault(operation: operation, remaining: nth, forEver: forEver, effect: .code(code)))
    }
  }

  /// Cuts the power in the middle of an operation. From then on every operation fails, until `crash`.
  /// - Parameter nth: which of the coming ones, from 1.
  public func cutPower(at operation: Operation, nth: Int) {
    volume.monitor.withLock {
      $0.faults.append(Fault(operation: operation, remaining: nth, forEver: false, effect: .powerCut))
    }
  }

  /// Removes the device in the middle of an operation. From then on every operation fails, until `heal`.
  /// - Parameter nth: which of the coming ones, from 1.
  public func detach(at operation: Operation, nth: Int) {
    volume.monitor.withLock {
      $0.faults.append(Fault(operation: operation, remaining: nth, forEver: false, effect: .detach))
    }
  }

  /// Cancels every fault. A power cut that has happened lasts until `crash`.
  public func heal() { volume.monitor.withLock { $0.heal() } }

  /// The capacity in bytes, shared memory included; nil for no limit. Existing data stays.
  public var capacity: Int? {
    get { volume.monitor.withLock { $0.capacity } }
    set { volume.monitor.withLock { $0.capacity = newValue } }
  }

  /// Whether the disk is mounted read-only: files are opened without write permission, and none is created.
  /// Open files are not affected.
  public var isReadOnly: Bool {
    get { volume.monitor.withLock { $0.isReadOnly } }
    set { volume.monitor.withLock { $0.isReadOnly = newValue } }
  }

  // MARK: - What happened

  /// The number of bytes in all files.
  public var usedBytes: Int { volume.monitor.withLock { $0.usedBytes } }

  /// The number of operations that failed by request, or for lack of space.
  public var faultsInjected: Int { volume.monitor.withLock { $0.faultsInjected } }

  /// Whether a requested power cut has happened.
  public var isPowerCut: Bool { volume.monitor.withLock { $0.isPowerCut } }

  /// Calls `watcher` in the middle of each operation that changes the disk (write, truncate, sync, delete and
  /// an open that creates): every moment at which a crash may leave another state. It is called on the thread
  /// that uses the database, and may call any method of this disk.
  public func watch(_ watcher: (@Sendable (Operation) -> Void)?) {
    volume.monitor.withLock { $0.watcher = watcher }
  }
}

/// A requested fault.
struct Fault {
  enum Effect {
    /// The code, or nil for the operation's usual one.
    case code(Int32?)
    case powerCut
    case detach
  }

  let operation: SimulatedDisk.Operation
  /// The operations of its kind until the fault, including the one that fails.
  var remaining: Int
  let forEver: Bool
  let effect: Effect
}

extension SimulatedDisk.Operation {
  /// The error code of SQLite's VFS for Unix.
  var code: Int32 {
    // The extended codes are SQLITE_IOERR | (n << 8), which Swift does not import.
    func inputOutput(_ number: Int32) -> Int32 { SQLITE_IOERR | (number << 8) }
    return switch self {
    case .open: SQLITE_CANTOPEN
    case .read: inputOutput(1)
    case .write: inputOutput(3)
    case .sync: inputOutput(4)
    case .truncate: inputOutput(6)
    case .fileSize: inputOutput(7)
    case .lock: inputOutput(15)
    case .memoryMap: inputOutput(21)
    // The VFS does not distinguish a failed lock from one that is held.
    case .memoryLock: SQLITE_BUSY
    case .delete: inputOutput(10)
    case .access: inputOutput(13)
    }
  }
}
