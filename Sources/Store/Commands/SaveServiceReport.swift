// What receiptd reports of itself, for programs that read the database and do not ask the process.

public import Domain

/// One report; the next one of its name replaces it.
public struct ServiceReport: Sendable, Equatable {
  /// What it is about.
  public enum Name: String, Sendable {
    /// Whether receiptd is ready, and what it counts in memory only.
    case health
    /// The result of the last reload of the configuration.
    case reload
  }

  public var name: Name
  public var at: Timestamp
  /// A JSON object, without secrets (R7).
  public var content: String

  public init(name: Name, at: Timestamp, content: String) {
    self.name = name
    self.at = at
    self.content = content
  }
}

/// Replaces the report of a name.
public struct SaveServiceReport: StoreCommand {
  public var report: ServiceReport

  public init(_ report: ServiceReport) { self.report = report }

  public func apply(to store: StoreSession) throws(StoreFault) {
    // At most a few a minute: it is prepared each time.
    try store.connection.prepare(
      """
      INSERT INTO service_reports (name, at, content) VALUES (?1, ?2, ?3)
      ON CONFLICT (name) DO UPDATE SET at = ?2, content = ?3
      """
    ).run([.text(report.name.rawValue), .time(report.at), .text(report.content)])
  }
}

extension StoreReader {
  /// The newest report of a name; nil when there never was one.
  public func serviceReport(_ name: ServiceReport.Name) throws(StoreFault) -> ServiceReport? {
    try connection.prepare("SELECT at, content FROM service_reports WHERE name = ?1")
      .first([.text(name.rawValue)]) { row throws(StoreFault) in
        ServiceReport(
          name: name, at: Timestamp(unixMilliseconds: row.integer(0)), content: try row.text(1))
      }
  }
}
