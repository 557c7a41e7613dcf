// A copy of a database that programs use: it gets its name only after it is complete, checked and synced. One
// thread.

internal import Formats
internal import Platform
public import Store

/// What makes a copy and can end it: receiptctl with a progress bar, or a thread of receiptd.
public protocol CopySteps {
  /// Does one step.
  /// - Parameters:
  ///   - end: the share of all work that is done after it.
  ///   - interrupt: ends it from another thread, with an error.
  ///   - measure: the share of the step that is done, as another thread sees it.
  func step<Result>(
    _ label: String, to end: Double, interrupt: (@Sendable () -> Void)?, measure: (@Sendable () -> Double)?,
    _ body: () throws -> Result
  ) throws -> Result

  /// Notes how much of the step is done, 0…1.
  func report(_ share: Double, _ label: String?)
}

/// Why there is no copy. The message names the file, and says what to do.
public struct BackupFault: Error, Equatable, CustomStringConvertible {
  public enum Kind: Sendable {
    case exists
    /// The temporary file exists.
    case unfinished
    case noFolder
    case notPermitted
    case full
    /// The copy is damaged, so the database may be, too.
    case damaged
    /// The copy and the database differ.
    case differs
    case failed
  }

  public let kind: Kind
  public let message: String

  public init(kind: Kind, message: String) { (self.kind, self.message) = (kind, message) }

  public var description: String { message }
}

/// A file that becomes the copy of a database.
public struct VerifiedCopy: Sendable {
  public let path: String
  /// The temporary path of the copy, so that an incomplete copy is never mistaken for a backup.
  public let partPath: String

  public init(to path: String) {
    self.path = path
    partPath = path + ".part"
  }

  /// Removes what an interrupted copy has left.
  public func removePart() { Self.remove(partPath) }

  /// Removes a database with the files that SQLite keeps beside it (https://www.sqlite.org/tempfiles.html).
  public static func remove(_ path: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { FileWriting.remove(path + suffix) }
  }

  /// Creates the temporary file, for its owner only.
  /// - Parameter replaces: whether a file of the copy's name may exist; `finish` replaces it.
  public func begin(replaces: Bool = false) throws(BackupFault) {
    guard replaces || FileWriting.accessFault(path)?.isMissingFile ?? false else {
      throw BackupFault(
        kind: .exists, message: "\(path) exists; choose another name, or replace it with --force")
    }
    do throws(SystemError) {
      // An empty file, which SQLite accepts (https://www.sqlite.org/lang_vacuum.html), to set its mode.
      try FileWriting.create(partPath, mode: 0o600)
    } catch {
      if error.isExistingFile {
        throw BackupFault(
          kind: .unfinished,
          message: "\(partPath) is of a backup that is running or was interrupted; if none is running, "
            + "remove it and try again")
      }
      throw BackupFault(
        kind: error.isMissingFile ? .noFolder : .notPermitted,
        message: "cannot write \(partPath) (\(error.reason)); choose a folder that you may write to")
    }
  }

  /// Fills and verifies the temporary file; a failure removes it.
  /// - Returns: the number of rows of each table in the copy.
  public func fill(
    from source: StoreReader, _ steps: some CopySteps
  ) throws -> [(table: String, rows: Int64)] {
    do {
      let before = try count(source, steps, to: 0.05)
      try copy(source, steps)
      return try verify(source, steps, expecting: before)
    } catch {
      removePart()
      throw error
    }
  }

  /// Syncs the verified file and gives it its name; a failure leaves no file.
  public func finish(_ steps: some CopySteps) throws {
    var isNamed = false
    do {
      try steps.step("syncing", to: 1, interrupt: nil, measure: nil) {
        try FileWriting.sync(partPath)
        try FileWriting.rename(partPath, to: path)
        isNamed = true
        // Only this sync makes the new name durable.
        try FileWriting.sync(FileWriting.folder(of: path))
      }
    } catch {
      removePart()
      if isNamed { FileWriting.remove(path) }
      guard let error = error as? SystemError else { throw error }
      throw BackupFault(
        kind: .failed, message: "cannot finish \(path) (\(error)); the partial copy was removed")
    }
  }

  private func count(
    _ source: StoreReader, _ steps: some CopySteps, to end: Double
  ) throws -> [(table: String, rows: Int64)] {
    try steps.step("counting", to: end, interrupt: source.interrupt, measure: nil) { try source.rowCounts() }
  }

  private func copy(_ source: StoreReader, _ steps: some CopySteps) throws {
    let (partPath, bytes) = (partPath, try source.usedBytes())
    try steps.step(
      "copying", to: 0.5, interrupt: source.interrupt,
      measure: { Double(DiskSpace.fileBytes(at: partPath) ?? 0) / Double(max(1, bytes)) }
    ) {
      do throws(StoreFault) {
        try source.copy(to: partPath)
      } catch {
        guard error.kind == .full else { throw error }
        throw BackupFault(
          kind: .full,
          message: "there is no room for \(path); the partial copy was removed, choose a larger disk")
      }
    }
  }

  /// Opens the copy as any program would, runs its integrity check, and compares the row counts.
  private func verify(
    _ source: StoreReader, _ steps: some CopySteps, expecting before: [(table: String, rows: Int64)]
  ) throws -> [(table: String, rows: Int64)] {
    let copy: StoreReader
    do throws(StoreError) {
      copy = try StoreReader(path: partPath, role: .reader)
    } catch {
      throw BackupFault(
        kind: .failed, message: "the copy cannot be opened (\(error)); the partial copy was removed")
    }
    let faults = try steps.step("checking the copy", to: 0.95, interrupt: copy.interrupt, measure: nil) {
      try copy.integrityFaults(progress: { steps.report($0, nil) })
    }
    guard faults.isEmpty else {
      throw BackupFault(
        kind: .damaged,
        message: "the copy is damaged (\(faults[0])), so the database may be, too. Check it with: "
          + "receiptctl db check")
    }
    let rows = try count(copy, steps, to: 0.97)
    let after = try count(source, steps, to: 0.98)
    // Other processes write meanwhile, so the true count is only known to be between the counts before and
    // after.
    for (index, table) in rows.enumerated() {
      let bounds = [before[index].rows, after[index].rows]
      guard let least = bounds.min(), let most = bounds.max(), (least...most).contains(table.rows) else {
        throw BackupFault(
          kind: .differs,
          message: "the copy has \(CountText.grouped(table.rows)) \(table.table), the database has "
            + "\(CountText.grouped(after[index].rows)); try again")
      }
    }
    return rows
  }
}
