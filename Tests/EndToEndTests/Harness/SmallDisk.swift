// A small file system for a relay's database, which a test can fill.

import Domain
import Formats
import Glibc
import TestSupport

/// External programs that these tests need.
enum Tool {
  /// Whether a command line succeeds here.
  static func works(_ words: String...) -> Bool {
    // A program that cannot be started does not work.
    guard let process = try? ChildProcess(words, output: "/dev/null") else { return false }
    return (try? process.end()) == 0
  }

  static let hasNamespaces = works(
    "unshare", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs none /mnt")
  static let hasTracing = works("strace", "-o", "/dev/null", "true")
}

/// The database's own file system, in the relay's mount namespace.
struct SmallDisk {
  private static let megabytes = 24
  let relay: Relay
  let folder: String
  private let past: PastDatabase?

  /// - Parameter past: the database at the beginning; nil for none.
  init(_ relay: Relay, copying past: PastDatabase? = nil) {
    self.relay = relay
    self.past = past
    folder = relay.directory.file("disk")
  }

  /// Lets a relay that is not started yet have its database there.
  func mount() throws {
    unsafe mkdir(folder, 0o755)
    relay.configuration = relay.configuration.merging(["database": .string(folder + "/receiptd.db")])
    let size = Self.megabytes << 20 + (past?.bytes ?? 0)
    let file = relay.directory.file("past.db")
    try past?.copy(to: file)
    let copy = past == nil ? "" : "cp \(file) \"$0\"/receiptd.db && "
    let mount = "mount -t tmpfs -o size=\(size) none \"$0\" && \(copy)exec \"$@\""
    relay.launcher = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, folder]
  }

  /// The folder's path from outside of the namespace.
  var outerFolder: String { "/proc/\(relay.process?.id ?? 0)/root\(folder)" }

  /// SQLite would follow the link to the outer root, so receiptd itself counts the rows.
  func count(_ state: ReceiptState) throws -> Int {
    try Int(relay.metric("receiptd_receipts{app=\"shop\",state=\"\(state)\"}") ?? 0)
  }

  /// Uses all remaining space.
  func fill() {
    let file = unsafe open(outerFolder + "/filler", O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    for size in [1 << 16, 1 << 12, 1] {
      while unsafe write(file, zeros, size) > 0 {}
    }
  }

  func clear() { unsafe unlink(outerFolder + "/filler") }
}
