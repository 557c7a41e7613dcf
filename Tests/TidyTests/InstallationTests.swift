// The package, the image and the examples agree with each other, with the documents and with receiptd.

import FoundationEssentials
import TestSupport
import Testing

@testable import Config

@Suite struct InstallationTests {
  /// The lines of a block, from the line after `start` to the line `end`.
  private static func block(_ text: String, after start: String, until end: String) throws -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let first = try #require(lines.firstIndex { $0.contains(start) })
    let rest = lines[(first + 1)...]
    return rest.prefix { !$0.hasPrefix(end) }.map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
      .filter { !$0.isEmpty && !$0.hasPrefix("```") }
  }

  /// A configuration as receiptd reads it, whose secrets are elsewhere.
  private static func read(_ text: String) throws -> Configuration {
    let file = FileManager.default.temporaryDirectory.appending(component: "relay-\(UUID().uuidString).json5")
    try Data(text.utf8).write(to: file)
    // If the removal fails, the system clears the folder.
    defer { try? FileManager.default.removeItem(at: file) }
    return try ConfigurationLoader.load(path: file.path, secrets: .whereAvailable).configuration
  }

  @Test func `The package names the three commands of the documents`() throws {
    let printed = try Self.block(
      Repository.text(of: "deploy/debian/receipt-relay.postinst"), after: "in three commands",
      until: "For production")
    let documented = try Self.block(
      Repository.text(of: "docs/installation.md"), after: "**A test receipt in three commands**",
      until: "**For production**")
    #expect(printed.count == 3)
    #expect(documented.suffix(3) == printed[...])
  }

  @Test func `The configuration for a first test is accepted, and delivers to the sandbox's port`() throws {
    let configuration = try Self.read(Repository.text(of: "deploy/debian/receiptd.test.json5"))
    #expect(configuration.apps.first?.purchasely?.url == "http://127.0.0.1:8089/receipts")
  }

  @Test("The configuration for a first test has another database than the example for production")
  func testDatabase() throws {
    let test = try Self.read(Repository.text(of: "deploy/debian/receiptd.test.json5"))
    let production = try Self.read(Repository.text(of: "deploy/receiptd.example.json5"))
    #expect(test.database.filePath != production.database.filePath)
  }

  @Test func `systemd's socket has the address of the example configuration`() throws {
    let unit = try Repository.text(of: "deploy/systemd/receiptd.socket")
    let address = try #require(unit.firstMatch(of: #/(?m)^ListenStream=(\S+):(\d+)$/#))
    let example = try Repository.text(of: "deploy/receiptd.example.json5")
    #expect(example.contains("listen: { address: \"\(address.1)\", port: \(address.2) }"))
  }

  @Test(arguments: ["sqlite", "postgres"])
  func `The examples for Kubernetes have a configuration that is accepted`(_ name: String) throws {
    let text = try Repository.text(of: "deploy/kubernetes/\(name).yaml")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let first = try #require(lines.firstIndex { $0.hasSuffix("receiptd.json5: |") })
    let own = lines[(first + 1)...].prefix { $0.hasPrefix("    ") }.joined(separator: "\n")
    // The one place whose form is checked, and not only whether it can be read.
    let place = own.replacing("file:/secrets/database_url", with: "postgres://receiptd@db/receipts")
    let configuration = try Self.read(place)
    #expect(configuration.apps.count == 1)
    #expect(configuration.listen.port == 8080)
    #expect(configuration.admin.port == 8081)
  }

  @Test(arguments: [true, false])
  func `A purge failed, and failed again, where a folder is a mount point or a link`(deletes: Bool) throws {
    let root = FileManager.default.temporaryDirectory.appending(component: "purge-\(UUID().uuidString)")
    // If the removal fails, the system clears the folder.
    defer { try? FileManager.default.removeItem(at: root) }
    func make(_ path: String, _ content: String? = nil) throws {
      let url = root.appending(path: path)
      guard let content else {
        return try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      }
      try Data(content.utf8).write(to: url)
    }
    for folder in ["bin", "etc/receiptd/secrets", "var/lib", "var/backups/receiptd", "disk"] {
      try make(folder)
    }
    try make("disk/receiptd.db", "data")
    try FileManager.default.createSymbolicLink(
      atPath: root.appending(path: "var/lib/receiptd").path,
      withDestinationPath: root.appending(path: "disk").path)
    if deletes { try make("etc/receiptd/delete-data-on-purge", "") }
    // As the kernel answers for a mount point (rmdir(2), EBUSY).
    try make("bin/rmdir", "#!/bin/sh\nexit 1\n")
    try make("bin/rm", "#!/bin/sh\nexit 1\n")
    for name in ["rmdir", "rm"] {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: root.appending(path: "bin/\(name)").path)
    }
    let script = try Repository.text(of: "deploy/debian/receipt-relay.postrm")
      .replacing(#/ (/(?:etc|var)/)/#) { " \(root.path)\($0.1)" }
    try make("postrm", script)
    for _ in 0..<2 {
      let ran = try ShellRun([
        "env", "PATH=\(root.path)/bin:/usr/bin:/bin", "sh", root.appending(path: "postrm").path, "purge",
      ])
      #expect(ran.code == 0, "\(ran.output)")
    }
    let data = FileManager.default.fileExists(atPath: root.appending(path: "disk/receiptd.db").path)
    #expect(data == !deletes)
  }

  @Test("An upgrade and a start leave the rights of folders that an administrator has tightened")
  func rightsStay() throws {
    let lines = try Repository.text(of: "deploy/debian/receipt-relay.tmpfiles").split(separator: "\n")
    let folders = lines.filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
    #expect(folders.count == 4)
    // tmpfiles.d(5): with a colon, the mode and the owners are those of new folders only.
    for fields in folders { #expect(fields[2...4].allSatisfy { $0.hasPrefix(":") }, "\(fields)") }
    // systemd.exec(5): StateDirectory= sets the mode at each start, and refuses a link.
    let unit = try Repository.text(of: "deploy/systemd/receiptd.service")
    #expect(!unit.contains("\nStateDirectory"))
    #expect(unit.contains("\nReadWritePaths=/var/lib/receiptd\n"))
  }

  @Test func `The image runs as the user of the examples`() throws {
    for path in [
      "deploy/Containerfile", "deploy/image/archive", "deploy/image/collect", "deploy/compose.yaml",
      "deploy/kubernetes/sqlite.yaml", "deploy/kubernetes/postgres.yaml", "deploy/dev/image-test",
    ] {
      #expect(try Repository.text(of: path).contains("65532"), "\(path)")
    }
  }
}
