// What a PostgreSQL server says about the safety of what it stores. One thread.

internal import Config
internal import PostgresStore
internal import Store

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
