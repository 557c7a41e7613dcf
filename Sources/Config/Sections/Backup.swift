// Scheduled backups of a database file. Keys are read as by ConfigurationReader: one thread, every fault.

public import Formats
internal import Platform

extension Configuration {
  /// The copies of the database file that receiptd makes.
  public struct Backup: Sendable, Equatable {
    /// The folder of the copies.
    public var folder: String
    public var every: Duration
    /// How many copies stay.
    public var keep: Int
    /// A program with its arguments, which gets the path of each new copy as its last one; empty for none.
    public var then: [String]

    public init(to folder: String, every: Duration = .days(1), keep: Int = 14, then: [String] = []) {
      (self.folder, self.every, self.keep, self.then) = (folder, every, keep, then)
    }

    static let section = ConfigurationSection(
      Self(to: ""),
      [
        .required(
          "to", \.folder, .folder, example: "/var/backups/receiptd",
          advice: "write the folder of the copies, such as \"/var/backups/receiptd\"",
          "The folder of the copies. It must exist, on another disk than the database if possible, and "
            + "belong to this database alone."),
        .key(
          "every", \.every, .duration(in: .minutes(1)...(.days(365))),
          "Time between two copies. It goes on after a restart."),
        .key("keep", \.keep, .integer(in: 1...10_000), "How many copies stay; older ones are deleted."),
        .key(
          "then", \.then, .list(of: .text("text"), count: 0...100, "texts"),
          example: ["/usr/bin/rclone", "copy", "--quiet"],
          "A program and its arguments, started without a shell after each copy, with the path of the copy "
            + "as its last argument, to take it to another machine. It gets no environment but PATH, HOME, "
            + "LOGNAME and USER, and is ended after 6 hours."
        ).then { backup, reader, _ in
          guard let program = backup.then.first, !program.hasPrefix("/") else { return }
          reader.collector.fault(
            reader.path(of: "then"), "must begin with the whole path of a program; nothing is looked up")
        },
      ])
  }

  static let backup = ConfigurationKey<Configuration>.optional(
    "backup", \.backup, .section(Backup.section),
    "Copies of the database file that receiptd makes and verifies while it runs. Not with PostgreSQL."
  ).then { configuration, _, context in
    guard configuration.backup != nil, case .postgres = configuration.database else { return }
    context.collector.fault(
      "backup",
      "copies a database file, and the database is PostgreSQL's; take it out, and use pg_basebackup or "
        + "pg_dump, whose commands this prints: receiptctl db backup FILE")
  }
}

extension ValueForm<String> {
  /// The path of a folder, resolved against the folder of the configuration file.
  static var folder: ValueForm {
    let expected = "the path of a folder"
    return ValueForm(
      shape: ValueShape(expected, .text()),
      read: { value, path, context in
        guard var text = context.text(value, path: path, mustBe: expected) else { return nil }
        while text.utf8.count > 1, text.hasSuffix("/") { text.removeLast() }
        return context.filePath(.string(text), path: path)
      }, show: JSONValue.string)
  }
}
