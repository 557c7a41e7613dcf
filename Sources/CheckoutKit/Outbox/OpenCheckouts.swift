// The checkouts that a customer has opened and that are not over, by user. A value; thread-safe.

public import Foundation

/// The ids of the checkouts that are not over, each with the user who began it.
///
/// A device may have several users, one after the other. Show only ``ids(of:)`` of the user who is signed in:
/// what another one bought is not theirs to see. Store ``data`` whenever it changes, because the system may
/// end the app while the browser is open.
public struct OpenCheckouts: Codable, Hashable, Sendable {
  private struct Entry: Codable, Hashable {
    var id: String
    let userID: String
  }

  /// The newest last.
  private var entries: [Entry] = []

  /// Creates a list without checkouts.
  public init() {}

  /// Creates a list of one user's checkouts, such as those that an app stored without their user.
  public init(_ ids: [String], of userID: String) {
    for id in ids { add(id, of: userID) }
  }

  /// Reads a stored list.
  /// - Parameter data: as ``data`` returned it; nil, or anything else, is an empty list.
  public init(data: Data?) {
    self = data.flatMap { try? JSONDecoder().decode(Self.self, from: $0) } ?? Self()
  }

  /// The list as JSON, to be stored. It has the ids of users and of contexts, so it does not belong in a
  /// backup or a log.
  public var data: Data {
    // Strings can always be encoded.
    (try? JSONEncoder().encode(self)) ?? Data()
  }

  /// The ids of a user's checkouts, the newest last.
  public func ids(of userID: String) -> [String] {
    entries.filter { LinkText.isSame($0.userID, userID) }.map(\.id)
  }

  /// Adds a checkout as the newest.
  public mutating func add(_ id: String, of userID: String) {
    remove(id)
    entries.append(Entry(id: id, userID: userID))
  }

  /// This list, followed by the checkouts of another one.
  func merging(_ newer: OpenCheckouts) -> OpenCheckouts {
    var merged = self
    for entry in newer.entries { merged.add(entry.id, of: entry.userID) }
    return merged
  }

  /// Replaces an id, if the relay has stored the context under another one.
  public mutating func replace(_ id: String, by newID: String) {
    for index in entries.indices where entries[index].id == id { entries[index].id = newID }
  }

  /// Removes a checkout that is over.
  public mutating func remove(_ id: String) { entries.removeAll { $0.id == id } }

  /// Removes a user's checkouts, for an app whose user is deleted.
  public mutating func forget(userID: String) {
    entries.removeAll { LinkText.isSame($0.userID, userID) }
  }
}
