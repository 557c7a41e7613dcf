// The state of a simulated disk, and the VFS through which SQLite finds it. One lock guards the state; it is
// never held while external code is called.

internal import CSQLite
internal import Platform
internal import Synchronization

/// Owns the state and the registered `sqlite3_vfs`. Every open file retains its volume, so the VFS exists
/// until the last connection is closed.
@safe final class Volume: @unchecked Sendable {
  private static let numbers = Atomic<Int>(0)

  let name: String
  let monitor: Monitor<VolumeState>
  private let vfs: UnsafeMutablePointer<sqlite3_vfs>
  private let vfsName: UnsafeMutablePointer<CChar>

  init(_ state: sending VolumeState) {
    name = "simulated\(Self.numbers.add(1, ordering: .relaxed).newValue)"
    monitor = Monitor(state)
    unsafe vfsName = .allocate(capacity: name.utf8.count + 1)
    unsafe vfs = .allocate(capacity: 1)
    for (index, byte) in (Array(name.utf8) + [0]).enumerated() {
      unsafe vfsName[index] = CChar(bitPattern: byte)
    }
    unsafe vfs.initialize(to: Callbacks.vfs())
    unsafe vfs.pointee.zName = UnsafePointer(vfsName)
    unsafe vfs.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_vfs_register(vfs, 0)
  }

  deinit {
    unsafe sqlite3_vfs_unregister(vfs)
    unsafe vfs.deallocate()
    unsafe vfsName.deallocate()
  }

  /// Performs an operation on an open file, unless the file is dead, the power is cut or a fault is due.
  func perform(
    _ operation: SimulatedDisk.Operation, on file: FileHandle, _ body: (inout VolumeState) -> Int32
  ) -> Int32 {
    monitor.withLock { state in
      guard file.epoch == state.epoch else { return operation.code }
      if let refusal = state.refusal(of: operation) { return refusal }
      return body(&state)
    }
  }

  /// Notifies the watcher, if any, in the middle of an operation.
  func tell(_ operation: SimulatedDisk.Operation) {
    let watcher = monitor.withLock { $0.watcher }
    watcher?(operation)
  }
}

/// The state of a disk. Sendable, because a copy shares no file with the original and the lock guards the
/// rest.
struct VolumeState: @unchecked Sendable {
  let properties: SimulatedDisk.Properties
  /// The directory as programs see it, and on the medium, with the changes in between.
  private(set) var files: [String: StoredFile] = [:]
  private var durableFiles: [String: StoredFile] = [:]
  private var pendingNames: [(name: String, file: StoredFile?)] = []
  /// Incremented when a process ends; files opened in an earlier epoch are dead.
  private(set) var epoch = 0
  private(set) var isPowerCut = false
  private var isDetached = false
  var faults: [Fault] = []
  var capacity: Int?
  var isReadOnly = false
  private(set) var faultsInjected = 0
  var watcher: (@Sendable (SimulatedDisk.Operation) -> Void)?
  var random: SeededGenerator

  init(seed: UInt64, _ properties: SimulatedDisk.Properties) {
    self.properties = properties
    random = SeededGenerator(seed: seed)
  }

  /// A copy of the content, for another disk, after the death of its process.
  func copy(seed: UInt64) -> VolumeState {
    var copy = VolumeState(seed: seed, properties)
    var copies: [ObjectIdentifier: StoredFile] = [:]
    func copied(_ file: StoredFile) -> StoredFile {
      if let known = copies[ObjectIdentifier(file)] { return known }
      let new = file.copy()
      copies[ObjectIdentifier(file)] = new
      return new
    }
    copy.files = files.mapValues(copied)
    copy.durableFiles = durableFiles.mapValues(copied)
    copy.pendingNames = pendingNames.map { ($0.name, $0.file.map(copied)) }
    copy.capacity = capacity
    return copy
  }

  // MARK: - Ends

  mutating func kill() {
    epoch += 1
    for file in files.values {
      file.holders = [:]
      file.sharedMemory = nil
    }
  }

  func forgetCache() {
    for file in files.values { file.forgetCache() }
  }

  mutating func crash(random: inout some RandomNumberGenerator) {
    kill()
    isPowerCut = false
    // For each name, a prefix of the changes is durable.
    var lost: Set<String> = []
    for change in pendingNames where !lost.contains(change.name) {
      if Bool.random(using: &random) {
        durableFiles[change.name] = change.file
      } else {
        lost.insert(change.name)
      }
    }
    pendingNames = []
    files = durableFiles
    let survival = Survival(random: &random)
    for (_, file) in files.sorted(by: { $0.key < $1.key }) {
      file.losePower(keeping: survival, properties, random: &random)
    }
  }

  // MARK: - Faults

  /// Returns the error with which it fails; nil when it may proceed.
  mutating func refusal(of operation: SimulatedDisk.Operation) -> Int32? {
    if isPowerCut { return operation.code }
    if isDetached {
      faultsInjected += 1
      return operation.code
    }
    var refusal: Int32?
    for index in faults.indices where faults[index].operation == operation {
      faults[index].remaining -= 1
      let fault = faults[index]
      guard fault.remaining == 0 || (fault.remaining < 0 && fault.forEver) else { continue }
      switch fault.effect {
      case .powerCut:
        isPowerCut = true
        refusal = operation.code
      case .detach:
        isDetached = true
        refusal = operation.code
      case .code(let code): refusal = code ?? operation.code
      }
    }
    if refusal != nil { faultsInjected += 1 }
    return refusal
  }

  mutating func heal() {
    faults = []
    isDetached = false
  }

  /// Whether this many more bytes fit.
  mutating func hasRoom(for growth: Int) -> Bool {
    guard growth > 0, let capacity, usedBytes + growth > capacity else { return true }
    faultsInjected += 1
    return false
  }

  var usedBytes: Int {
    files.values.reduce(0) { $0 + $1.bytes.count + ($1.sharedMemory?.bytes ?? 0) }
  }

  // MARK: - Names

  mutating func create(_ name: String) -> StoredFile {
    let file = StoredFile()
    files[name] = file
    pendingNames.append((name, file))
    return file
  }

  mutating func delete(_ name: String) {
    files[name] = nil
    pendingNames.append((name, nil))
  }

  /// Makes the names durable.
  mutating func syncDirectory() {
    for change in pendingNames { durableFiles[change.name] = change.file }
    pendingNames = []
  }
}
