// A database as a program uses it, whatever engine keeps it. What only one engine has (files, logs, caches,
// checks, backups) stays behind this protocol, in the engine's own target.

public import Platform

/// A database. It opens connections, and does beside them what its engine needs. Any thread.
public protocol StoreEngine: AnyObject, Sendable {
  /// Opens the connection that writes; one at a time in a process. As the owner of the database it makes the
  /// database if there is none, and brings its schema up to date.
  /// - Parameters:
  ///   - rules: what each configured app's configuration means for the store.
  ///   - random: for identifiers.
  func openWriter(
    rules: [String: AppRules], random: any RandomNumberGenerator & Sendable
  ) throws(StoreError) -> StoreWriter
  /// Opens a connection that only reads.
  func openReader() throws(StoreError) -> StoreReader

  /// Starts the engine's own threads, once the writer is open.
  func start() throws(SystemError)
  /// Ends them. The writer and readers go on without them.
  func stop()
  /// Looks after the database; to be called every few seconds.
  func look()

  /// What is wrong with the database now; looks at it, which must not take long.
  var troubles: [StoreTrouble] { get }
  /// Space that the engine keeps back for a full disk, so that what must go on then can.
  var reserve: any SpaceReserve { get }
  /// What the database takes up now.
  var space: StoreSpace { get }
}

/// What can be wrong with a database that is open.
public enum StoreTrouble: Sendable, CaseIterable {
  /// It is not at its place any more: nothing is stored until it is back.
  case moved
  /// Until the next start.
  case damaged
}

/// What a database takes up.
public struct StoreSpace: Sendable, Equatable {
  /// One of its files, or what else an engine counts separately.
  public struct Part: Sendable, Equatable {
    public var name: String
    public var bytes: Int64

    public init(name: String, bytes: Int64) {
      self.name = name
      self.bytes = bytes
    }
  }

  /// Without those that cannot be looked at.
  public var parts: [Part]
  /// What its disk has left; nil where that cannot be found out.
  public var freeBytes: Int64?

  public init(parts: [Part], freeBytes: Int64?) {
    self.parts = parts
    self.freeBytes = freeBytes
  }
}
