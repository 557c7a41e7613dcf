// The files of an outbox: one for each context, so that an app and its extensions can share a folder, and a
// damaged file harms no other context. Thread-safe: it has no state, and each file is replaced at once.

internal import Foundation

/// A context that waits to be posted, as it is stored.
struct OutboxEntry: Codable, Hashable, Sendable {
  /// The id that the app made.
  var id: String
  var userID: String
  var plyContext: String

  private enum CodingKeys: String, CodingKey {
    case id
    case userID = "user_id"
    case plyContext = "ply_context"
  }

  /// When the relay no longer accepts the id.
  var end: Date { (CheckoutID.date(of: id) ?? .distantPast) + CheckoutID.lifetime }
}

/// Where the entries of an outbox are stored.
struct OutboxFolder: Sendable {
  let url: URL

  /// The folder of an app's outbox in Application Support, or in Caches on tvOS, where apps have no other.
  static func standard(app: String) throws -> URL {
    #if os(tvOS)
      let place = FileManager.SearchPathDirectory.cachesDirectory
    #else
      let place = FileManager.SearchPathDirectory.applicationSupportDirectory
    #endif
    return try FileManager.default.url(for: place, in: .userDomainMask, appropriateFor: nil, create: true)
      .appendingPathComponent("CheckoutKit", isDirectory: true).appendingPathComponent(app, isDirectory: true)
  }

  private static let suffix = ".json"
  /// A context has at most 16 KiB of JSON, and base64 and escapes make it longer.
  private static let bytesMax = 64 * 1024

  private func file(_ id: String) -> URL { url.appendingPathComponent(id + Self.suffix) }

  /// What is in a folder.
  struct Listing {
    /// The ids of all files.
    var ids: Set<String> = []
    /// The entries of the files that were read.
    var entries: [OutboxEntry] = []
    /// Whether each file could be read; it cannot before the first unlock of the device.
    var isComplete = true
  }

  /// Reads the folder. A file that is not an entry is deleted: nothing can be posted from it.
  /// - Parameter known: ids whose files need not be read.
  /// - Returns: nil if there is no folder.
  /// - Throws: if the folder cannot be read.
  func list(besides known: Set<String>) throws -> Listing? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    let ids = names.filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
      .filter(CheckoutID.isWellFormed)
    var listing = Listing(ids: Set(ids))
    for id in ids where !known.contains(id) {
      do {
        let data = try Data(contentsOf: file(id))
        if data.count <= Self.bytesMax, let entry = try? JSONDecoder().decode(OutboxEntry.self, from: data),
          entry.id == id
        {
          listing.entries.append(entry)
        } else {
          remove(id)
        }
      } catch {
        if isGone(id, error) { listing.ids.remove(id) } else { listing.isComplete = false }
      }
    }
    return listing
  }

  /// Whether there is no such file, because another process has deleted it, or it is a folder.
  private func isGone(_ id: String, _ error: any Error) -> Bool {
    if (error as? CocoaError)?.code == .fileReadNoSuchFile { return true }
    return (try? file(id).resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
  }

  /// Stores an entry, whole or not at all.
  func save(_ entry: OutboxEntry) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    excludeFromBackup()
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try encoder.encode(entry).write(to: file(entry.id), options: Self.options)
  }

  private static var options: Data.WritingOptions {
    #if os(iOS) || os(tvOS) || os(watchOS)
      // A post may be repeated in the background, while the device is locked.
      [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
    #else
      .atomic
    #endif
  }

  /// Deletes an entry.
  /// - Returns: false if the file could not be deleted. The next launch posts it again, which the relay
  ///   answers in the same way.
  @discardableResult func remove(_ id: String) -> Bool {
    (try? FileManager.default.removeItem(at: file(id))) != nil
      || !FileManager.default.fileExists(atPath: file(id).path)
  }

  // MARK: The relay's clock

  /// Hidden, because its name is not that of an entry.
  private var clockFile: URL { url.appendingPathComponent(".clock") }

  /// Seconds by which the relay's clock is ahead of the device's; nil if they are stored and cannot be read.
  func clockOffset() -> TimeInterval? {
    guard FileManager.default.fileExists(atPath: clockFile.path) else { return 0 }
    guard let data = try? Data(contentsOf: clockFile) else { return nil }
    let seconds = TimeInterval(String(decoding: data, as: UTF8.self)) ?? 0
    return seconds.isFinite ? seconds : 0
  }

  /// Stores the difference. Without it the next launch learns it by the relay's answer.
  func save(clockOffset: TimeInterval) {
    try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try? Data("\(clockOffset)".utf8).write(to: clockFile, options: Self.options)
  }

  // MARK: The claim and the open checkouts

  private var claimFile: URL { url.appendingPathComponent(".claim") }
  private var checkoutsFile: URL { url.appendingPathComponent(".checkouts") }

  /// The claim link that waits; nil if there is none, and if it cannot be read.
  func claim() -> ClaimLink? {
    (try? Data(contentsOf: claimFile)).flatMap { try? JSONDecoder().decode(ClaimLink.self, from: $0) }
  }

  /// Stores the claim link, or deletes it.
  func save(claim: ClaimLink?) {
    guard let claim, let data = try? JSONEncoder().encode(claim) else {
      try? FileManager.default.removeItem(at: claimFile)
      return
    }
    save(data, to: claimFile)
  }

  /// The checkouts that are not over; nil if they are stored and cannot be read.
  func openCheckouts() -> OpenCheckouts? {
    guard FileManager.default.fileExists(atPath: checkoutsFile.path) else { return OpenCheckouts() }
    return (try? Data(contentsOf: checkoutsFile)).map { OpenCheckouts(data: $0) }
  }

  /// Stores the checkouts that are not over.
  func save(_ checkouts: OpenCheckouts) { save(checkouts.data, to: checkoutsFile) }

  private func save(_ data: Data, to file: URL) {
    try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    excludeFromBackup()
    try? data.write(to: file, options: Self.options)
  }

  // MARK: Backups

  /// The folders that this process has excluded from backups. It is done once in each process, because the
  /// app may have made the folder, and a restore does not keep the attribute.
  private static let excluded = Locked<Set<String>>([])

  /// A context of another device, or of last year, must not be posted after a restore. A sale must not fail
  /// for it: if it cannot be excluded, the next save tries again.
  private func excludeFromBackup() {
    #if canImport(Darwin)
      guard !Self.excluded.withLock({ $0.contains(url.path) }) else { return }
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      var folder = url
      guard (try? folder.setResourceValues(values)) != nil else { return }
      Self.excluded.withLock { _ = $0.insert(url.path) }
    #endif
  }
}
