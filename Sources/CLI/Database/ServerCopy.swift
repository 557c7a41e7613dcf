// `db backup` and `db restore` of a PostgreSQL database: the server's own tools do that, and these commands
// name them. Tests run the printed commands.

internal import Config
internal import Formats
internal import Terminal

enum ServerCopy {
  static func backup(_ url: DatabaseURL, _ session: Session) -> ExitCode {
    let name = session.command.positionals[0]
    let file = name == DatabaseBackup.standardOutput ? "receiptd.dump" : name
    return show(
      url, "PostgreSQL copies its databases with its own tools; nothing was copied",
      [
        "Copy the database into a file. receiptd may run meanwhile:",
        "  (umask 077 && pg_dump --format=custom --file=\(ShellWord.quoted(file)) --dbname=\(word(url)))",
        "To recover what was stored until any moment, archive the WAL (archive_mode, archive_command), and "
          + "copy the whole server from time to time, as a role with REPLICATION:",
        "  pg_basebackup --checkpoint=fast --pgdata=\(ShellWord.quoted(file + ".base")) "
          + "--dbname=\(word(url))",
        "How to recover from that: https://www.postgresql.org/docs/current/continuous-archiving.html",
        "After a backup, for the alert backup_old: receiptctl db backup --record \(ShellWord.quoted(file))",
      ], session)
  }

  static func restore(
    _ url: DatabaseURL, _ configuration: Configuration, _ session: Session
  ) -> ExitCode {
    let file = session.command.positionals[0]
    return show(
      url, "PostgreSQL restores its databases with its own tools; nothing was changed",
      [
        "Stop every receiptd that uses the database, on each machine:", "  systemctl stop receiptd",
        "Replace all tables with those of the file that pg_dump made, or none of them:",
        "  pg_restore --clean --if-exists --exit-on-error --single-transaction --no-owner "
          + "--dbname=\(word(url)) \(ShellWord.quoted(file))",
        "  receiptctl db check",
        "Jobs that ran when the file was made go on when receiptd starts. See whether they should:",
        "  receiptctl jobs list",
        "Start receiptd. Then fetch the events since the file was made: receiptctl events backfill --since "
          + "TIME",
      ] + RestoreAdvice.lines(configuration, since: nil), session)
  }

  /// - Parameter lines: sentences, and indented commands.
  private static func show(
    _ url: DatabaseURL, _ refusal: String, _ lines: [String], _ session: Session
  ) -> ExitCode {
    var lines = lines
    if url.withoutPasswords == nil {
      lines.append("Write the URL of the database in place of URL: you may not read it (\(url)).")
    } else if url.hasPassword {
      lines.append(
        "The URL above has no password: the tools ask for it, or read it from ~/.pgpass (chmod 600).")
    }
    lines = lines.map(DisplayText.clean)
    if session.isJSON {
      session.output.json(["database": .string(url.description), "next": .array(lines.map(JSONValue.string))])
    } else {
      for line in lines { session.output.line(line) }
    }
    session.output.error(refusal)
    return .refused
  }

  /// Other users can see the arguments of a program, so they have no password. A URL that this user may not
  /// read is a placeholder.
  private static func word(_ url: DatabaseURL) -> String {
    url.withoutPasswords.map(ShellWord.quoted) ?? "URL"
  }
}
