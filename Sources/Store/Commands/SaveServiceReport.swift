// Reports of receiptd's state, for programs that read the database instead of asking the process.

public import Domain

/// One report; it replaces the previous one of its name.
public struct ServiceReport: Sendable, Equatable {
  /// The subject of a report.
  public enum Name: String, Sendable {
    /// Whether receiptd is ready, and the counts that it has only in memory.
    case health
    /// The result of the last reload of the configuration.
    case reload
    /// The last backup of the database, by receiptctl or by another program that reported it.
    case backup
  }

  public var name: Name
  public var at: Timestamp
  /// A JSON object without secrets (R7).
  public var content: String

  public init(name: Name, at: Timestamp, content: String) {
    self.name = name
    self.at = at
    self.content = content
  }
}

/// Replaces the report of this name.
public struct SaveServiceReport: StoreCommand {
  public var report: ServiceReport

  public init(_ report: ServiceReport) { self.report = report }

  public var scope: CommandScope { .none }

  public func apply(to store: StoreSession) throws(StoreFault) {
    // Prepared at each call, which happens only a few times a minute.
    try store.connection.prepare(
      """
      INSERT INTO service_reports (name, at, content) VALUES (?1, ?2, ?3)
      ON CONFLICT (name) DO UPDATE SET at = ?2, content = ?3
      """
    ).run([.text(report.name.rawValue), .time(report.at), .text(report.content)])
  }
}

extension StoreReader {
  /// The newest report of a name; nil if there is none.
  public func serviceReport(_ name: ServiceReport.Name) throws(StoreFault) -> ServiceReport? {
    try connection.prepare("SELECT at, content FROM service_reports WHERE name = ?1")
      .first([.text(name.rawValue)]) { row throws(StoreFault) in
        ServiceReport(name: name, at: Timestamp(unixMilliseconds: row.integer(0)), content: try row.text(1))
      }
  }
}

// MARK: - Pulse

// A command that tests whether the writer responds.

/// Changes nothing. Its answer shows that the writer is running.
public struct Pulse: StoreCommand {
  public init() {}

  public var scope: CommandScope { .none }

  public func apply(to store: StoreSession) throws(StoreFault) {}
}
