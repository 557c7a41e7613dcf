// A disk in memory for the tests of what becomes of the database when the power or the disk fails. It is a
// SQLite VFS (https://www.sqlite.org/vfs.html) of its own, registered under a name of its own, and never the
// default one. Any thread; each call is one step.

internal import CSQLite
internal import Platform

/// A disk that keeps what was synced apart from what was only written, and that fails when told to.
///
/// Databases on it are opened with `path(of:)`; write-ahead logs and shared memory work, from several
/// connections and threads. Connections from before a crash are dead: every call of theirs fails, and they
/// can be closed at any time. What happens is decided by the calls and the seed alone.
public final class SimulatedDisk: Sendable {
  /// What SQLite asks of a disk. The n-th of a kind can be made to fail, and each kind is counted.
  public enum Operation: Int, Sendable, CaseIterable {
    case open, read, write, sync, truncate, fileSize, lock, memoryMap, memoryLock, delete, access
  }

  /// What the disk is like.
  public struct Properties: Sendable {
    /// The bytes that are written or lost as one: 512 or 4096.
    public var sectorBytes: Int
    /// Whether a torn write leaves the other bytes of its sector as they were. SQLite relies on it where it
    /// is claimed, as its VFS for Unix does (https://www.sqlite.org/psow.html).
    public var isPowersafe: Bool
    /// Whether SQLite's waiting for a lock takes real time, which two threads need and one must not have.
    public var waitsForReal: Bool

    public init(sectorBytes: Int = 4096, isPowersafe: Bool = true, waitsForReal: Bool = false) {
      self.sectorBytes = sectorBytes
      self.isPowersafe = isPowersafe
      self.waitsForReal = waitsForReal
    }
  }

  private let volume: Volume

  /// - Parameter seed: decides what the disk leaves to chance by itself: what of a failed write or sync
  ///   reached it, and SQLite's random numbers.
  public convenience init(seed: UInt64 = 1, _ properties: Properties = Properties()) {
    self.init(Volume(VolumeState(seed: seed, properties)))
  }

  private init(_ volume: Volume) { self.volume = volume }

  /// What to give `Connection(path:)` for a file of this disk. The disk must be there while it is opened.
  public func path(of file: String = "relay.db") -> String { "file:/\(file)?vfs=\(volume.name)" }

  // MARK: - The end of a process, and of the power

  /// The process dies: all that was written stays, locks and shared memory are gone.
  public func kill() { volume.monitor.withLock { $0.kill() } }

  /// What a failed sync lost is not shown any more, as when `FileCache.forget` was asked for every file.
  /// To be called while nothing is open.
  public func forgetCache() { volume.monitor.withLock { $0.forgetCache() } }

  /// The power goes and comes back: what was not synced is, sector by sector, there, lost or torn.
  public func crash(random: inout some RandomNumberGenerator) {
    volume.monitor.withLock { $0.crash(random: &random) }
  }

  /// The disk as it would be after a crash at this moment, without faults and watcher; this one goes on.
  public func afterCrash(random: inout some RandomNumberGenerator, seed: UInt64 = 1) -> SimulatedDisk {
    SimulatedDisk(
      Volume(
        volume.monitor.withLock { state in
          var copy = state.copy(seed: seed)
          copy.crash(random: &random)
          return copy
        }))
  }

  /// The disk as it would be after `kill` at this moment, without faults and watcher; this one goes on.
  public func afterKill(seed: UInt64 = 1) -> SimulatedDisk {
    SimulatedDisk(Volume(volume.monitor.withLock { $0.copy(seed: seed) }))
  }

  // MARK: - Faults

  /// Lets an operation fail.
  /// - Parameters:
  ///   - nth: which of those that come, from 1 on.
  ///   - forEver: whether all that follow it fail, too, until `heal`.
  ///   - code: what SQLite is told; nil for what its VFS for Unix would say. A failed sync is as Linux has
  ///     it: each write since the last one is then durable or lost, and the next sync says nothing of it.
  public func fail(_ operation: Operation, nth: Int, forEver: Bool = false, code: Int32? = nil) {
    volume.monitor.withLock {
      $0.faults.append(Fault(operation: operation, remaining: nth, forEver: forEver, effect: .code(code)))
    }
  }

  /// Lets the power go in the middle of an operation. From then on everything fails, until `crash`.
  /// - Parameter nth: which of those that come, from 1 on.
  public func cutPower(at operation: Operation, nth: Int) {
    volume.monitor.withLock {
      $0.faults.append(Fault(operation: operation, remaining: nth, forEver: false, effect: .powerCut))
    }
  }

  /// Lets the device be lost in the middle of an operation: from then on everything fails, until `heal`.
  /// - Parameter nth: which of those that come, from 1 on.
  public func detach(at operation: Operation, nth: Int) {
    volume.monitor.withLock {
      $0.faults.append(Fault(operation: operation, remaining: nth, forEver: false, effect: .detach))
    }
  }

  /// Takes back every fault that was ordered. Power that is gone stays gone.
  public func heal() { volume.monitor.withLock { $0.heal() } }

  /// The bytes that fit, shared memory included; nil for as many as are written. What is there stays.
  public var capacity: Int? {
    get { volume.monitor.withLock { $0.capacity } }
    set { volume.monitor.withLock { $0.capacity = newValue } }
  }

  /// Whether the disk is mounted for reading only: files are opened as if nobody might write them, and none
  /// is made. What is open already goes on.
  public var isReadOnly: Bool {
    get { volume.monitor.withLock { $0.isReadOnly } }
    set { volume.monitor.withLock { $0.isReadOnly = newValue } }
  }

  // MARK: - What happened

  /// How many bytes the files take.
  public var usedBytes: Int { volume.monitor.withLock { $0.usedBytes } }

  /// How many operations of a kind there were, failed ones included.
  public func count(of operation: Operation) -> Int {
    volume.monitor.withLock { $0.counts[operation.rawValue] }
  }

  /// How many operations failed because they were told to, or for lack of space.
  public var faultsInjected: Int { volume.monitor.withLock { $0.faultsInjected } }

  /// Whether a cut of the power that was ordered has happened.
  public var isPowerCut: Bool { volume.monitor.withLock { $0.isPowerCut } }

  /// Calls `watcher` in the middle of each operation that changes the disk (write, truncate, sync, delete
  /// and an open that creates): every moment at which a crash may leave another state. It is called on the
  /// thread that uses the database, and may ask this disk for anything.
  public func watch(_ watcher: (@Sendable (Operation) -> Void)?) {
    volume.monitor.withLock { $0.watcher = watcher }
  }
}

/// A fault that was ordered.
struct Fault {
  enum Effect {
    /// The code, or nil for what the operation's own one is.
    case code(Int32?)
    case powerCut
    case detach
  }

  let operation: SimulatedDisk.Operation
  /// How many of its kind come before it, and itself.
  var remaining: Int
  let forEver: Bool
  let effect: Effect
}

extension SimulatedDisk.Operation {
  /// What SQLite's VFS for Unix says when it fails.
  var code: Int32 {
    // The extended codes are (n << 8) of SQLITE_IOERR, which Swift does not import as numbers.
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
    // It does not tell a lock that fails from one that is taken.
    case .memoryLock: SQLITE_BUSY
    case .delete: inputOutput(10)
    case .access: inputOutput(13)
    }
  }
}
