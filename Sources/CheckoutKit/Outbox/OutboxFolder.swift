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

  /// The stored entries, oldest first. A file that cannot be read as an entry is deleted: nothing can be
  /// posted from it.
  /// - Throws: if the folder cannot be read.
  func load() throws -> [OutboxEntry] {
    guard FileManager.default.fileExists(atPath: url.path) else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    let ids = names.filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
    return ids.filter(CheckoutID.isWellFormed).sorted().compactMap { id in
      guard let data = try? Data(contentsOf: file(id)) else { return nil }  // Locked, until the first unlock.
      if data.count <= Self.bytesMax, let entry = try? JSONDecoder().decode(OutboxEntry.self, from: data),
        entry.id == id
      {
        return entry
      }
      remove(id)
      return nil
    }
  }

  /// Stores an entry, whole or not at all.
  func save(_ entry: OutboxEntry) throws {
    try create()
    var options: Data.WritingOptions = [.atomic]
    #if os(iOS) || os(tvOS) || os(watchOS)
      // A post may be repeated in the background, while the device is locked.
      options.insert(.completeFileProtectionUntilFirstUserAuthentication)
    #endif
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try encoder.encode(entry).write(to: file(entry.id), options: options)
  }

  /// Deletes an entry. A file that cannot be deleted is posted again, which the relay answers in the same
  /// way.
  func remove(_ id: String) { try? FileManager.default.removeItem(at: file(id)) }

  private func create() throws {
    guard !FileManager.default.fileExists(atPath: url.path) else { return }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    #if canImport(Darwin)
      // A context of another device, or of last year, must not be posted after a restore.
      var values = URLResourceValues()
      values.isExcludedFromBackup = true
      var folder = url
      try folder.setResourceValues(values)
    #endif
  }
}
