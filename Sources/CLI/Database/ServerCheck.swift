// `db check` of a PostgreSQL database: what SQL can show. One thread.

internal import Config
internal import Formats
internal import Platform
internal import PostgresStore
internal import Store
internal import Terminal

struct ServerCheck {
  private let server: PostgresInspection
  private let durability: DatabaseDurability
  /// What is wrong with what is stored.
  private let damage: [String]

  static func run(_ url: DatabaseURL, _ configuration: Configuration, _ session: Session) throws -> ExitCode {
    let text = try DatabaseAccess.text(of: url)
    let server: PostgresInspection
    do throws(StoreError) {
      server = try PostgresInspection(text, application: OperatorProgram.name)
    } catch {
      throw OperatorFault(error, configuration.database)
    }
    let damage = try LongWork.run(session, left: "nothing was changed") { work in
      try work.step("checking", to: 1) {
        // Opening it checks the schema's version.
        try session.reader(configuration).integrityFaults()
      }
    }
    let check = ServerCheck(server: server, durability: configuration.durability, damage: damage)
    check.show(url, session)
    return check.faults.isEmpty ? .done : .badData
  }

  /// A server that may lose receipts is a fault, unless the operator allows it.
  private var faults: [String] {
    damage + (durability != .lossy ? [server.durabilityFault].compactMap(\.self) : [])
  }

  private var warnings: [String] { server.risks(allowsUnsafe: durability == .lossy) }

  private func show(_ url: DatabaseURL, _ session: Session) {
    let (output, name) = (session.output, url.description)
    for warning in warnings { output.note("warning: \(DisplayText.clean(warning))") }
    guard !session.isJSON else { return output.json(json(name)) }
    let verdict = faults.isEmpty ? "sound" : damage.isEmpty ? "sound, but not durable" : "damaged"
    output.line("\(DisplayText.clean(name)): \(verdict)")
    for (label, value) in facts {
      output.line("  \(DisplayText.padded(label, to: 10)) \(DisplayText.clean(value))")
    }
    for fault in faults { output.error(DisplayText.clean(fault)) }
  }

  private var facts: [(label: String, value: String)] {
    let kind = server.isStandby ? "a standby" : "a primary"
    let standbys = (server.standbys ?? []).map { standby in
      "\(standby.name) (\(standby.state), \(standby.isSynchronous ? "synchronous" : "asynchronous"))"
    }
    let shown = standbys.isEmpty ? "none" : standbys.joined(separator: ", ")
    return [
      ("server", "PostgreSQL \(server.serverVersion), \(kind)"),
      ("schema", "version \(PostgresInspection.schemaVersion)"),
      ("commits", server.durabilityFault == nil ? "kept" : "can be lost"),
      ("standbys", server.standbys == nil ? "not visible" : shown),
    ]
  }

  private func json(_ name: String) -> JSONValue {
    let standbys = server.standbys.map { standbys in
      JSONValue.array(
        standbys.map {
          ["name": .string($0.name), "state": .string($0.state), "synchronous": .bool($0.isSynchronous)]
        })
    }
    return [
      "database": .string(name), "sound": .bool(faults.isEmpty),
      "faults": .array(faults.map(JSONValue.string)), "warnings": .array(warnings.map(JSONValue.string)),
      "server": .string(server.serverVersion), "standby": .bool(server.isStandby),
      "schema": .integer(Int64(PostgresInspection.schemaVersion)),
      "durable": .bool(server.durabilityFault == nil), "standbys": standbys ?? .null,
    ]
  }
}

// MARK: - ServerState

// What a PostgreSQL server says about the safety of what it stores. One thread.

/// The state of a server, without reading the rows.
struct ServerState {
  /// Such as `15.18`.
  let version: String
  /// Why it may lose what it has committed; nil if it does not, or if that is allowed.
  let fault: String?
  /// What a crash or the loss of the server may cost.
  let warnings: [String]

  init(_ url: DatabaseURL, _ configuration: Configuration) throws {
    let text = try DatabaseAccess.text(of: url)
    let isSafe = configuration.durability != .lossy
    do throws(StoreError) {
      let server = try PostgresInspection(text, application: OperatorProgram.name)
      version = server.serverVersion
      fault = isSafe ? server.durabilityFault : nil
      warnings = server.risks(allowsUnsafe: !isSafe)
    } catch {
      throw OperatorFault(error, configuration.database)
    }
  }
}
