// The situations of the runbook's sections about PostgreSQL. One thread.

import Formats
import Glibc
import TestSupport
import Testing

/// A server of a section's own, which keeps what it has committed, and what the section needs besides.
final class RunbookServer {
  /// The URL in the page.
  static let url = "postgres://receiptd@db1,db2/receipts?target_session_attrs=read-write"

  let server: PostgresServer
  let database: String
  /// The other relay of a section about two.
  var other: Relay?

  init() throws {
    server = try PostgresServer()
    database = try server.makeDatabase()
  }

  var url: String { server.url(database) }

  func end() {
    if let other, other.process?.exitCode == nil { _ = try? other.stop(SIGKILL) }
  }

  /// Starts another relay with the same configuration.
  func startOther(_ relay: Relay, _ destination: Destination) throws {
    let other = try Relay(destination, top: relay.configuration, server: url)
    try other.start()
    self.other = other
  }
}

extension RunbookScene {
  /// - Parameter before: events before the command with this number.
  private static func on(
    _ server: RunbookServer, prepare: @escaping (Relay, Destination) throws -> Void = { _, _ in },
    before: [Int: (Relay, Destination) throws -> Void] = [:]
  ) -> RunbookScene {
    var scene = RunbookScene(
      prepare: { relay, destination in
        try usual.prepare(relay, destination)
        try owns(relay)
        try prepare(relay, destination)
      }, before: before)
    scene.server = server
    return scene
  }

  /// Waits until a relay has all leases and is notified.
  private static func owns(_ relay: Relay) throws {
    try waitUntil("the relay has all leases") {
      let ran = try ShellRun([
        Program.receiptctl, "--config", relay.configurationPath, "--json", "instances", "list",
      ])
      let instance = try JSONValue(parsing: Array(ran.output.utf8))
      return instance["shared"] == true && instance["notified"] == true && instance["apps"] == ["shop"]
    }
  }

  private static func isReady(_ relay: Relay, _ isSo: Bool) throws {
    try waitUntil("the relay is ready: \(isSo)") {
      (try relay.admin.request("GET", "/readyz").status == 200) == isSo
    }
  }

  static func served() throws -> RunbookScene { on(try RunbookServer()) }

  static func unreachable() throws -> RunbookScene {
    let server = try RunbookServer()
    return on(
      server,
      prepare: { relay, _ in
        try server.server.stop("immediate")
        try isReady(relay, false)
      },
      before: [
        1: { relay, _ in
          try server.server.start()
          try isReady(relay, true)
        }
      ])
  }

  static func removed() throws -> RunbookScene {
    let server = try RunbookServer()
    return on(
      server, prepare: { relay, destination in try server.startOther(relay, destination) },
      before: [
        1: { _, _ in
          if let other = server.other { try owns(other) }
        }
      ])
  }
}
