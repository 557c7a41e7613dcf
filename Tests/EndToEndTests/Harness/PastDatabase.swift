// A database with a long history, made once for each run of the tests. Any thread.

import Formats
import Glibc
import Platform
import TestSupport
import Testing

/// Delivered receipts of the app `shop`, up to now, and a backup that was recorded just now.
struct PastDatabase: Sendable {
  static let receipts = Torture.size(short: 20_000, long: 200_000)

  /// Makes it, if it does not exist yet.
  static func shared() throws -> PastDatabase { try made.get() }

  private static let made = Result { try PastDatabase() }

  /// The open file. It has no name any more, so nothing is left when the tests end.
  private let descriptor: Int32

  private init() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    try relay.start()
    try #require(try relay.stop() == 0)
    let now = SystemClock().wallMilliseconds
    let start = now - Int64(Self.receipts + 1) * LargeDatabase.step.milliseconds
    try LargeDatabase.fill(
      path: relay.databasePath, .init(receipts: Self.receipts, failed: 0), app: "shop", start: start)
    let backup = ["db", "backup", "--record", "snapshot"]
    try #require(try ShellRun(relay.receiptctlCommand + backup).code == 0)
    descriptor = unsafe open(relay.databasePath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError.last("open") }
  }

  /// A path by which other processes can read it, too.
  var path: String { "/proc/\(getpid())/fd/\(descriptor)" }

  var bytes: Int { TextFile.size(path) }

  func copy(to path: String) throws { try #require(try ShellRun(["cp", self.path, path]).code == 0) }
}
