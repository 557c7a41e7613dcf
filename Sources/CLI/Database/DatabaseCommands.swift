// `receiptctl db`: checks, backups, restores and purges of the database.

internal import Config
internal import Formats
internal import PostgresStore
internal import Store
internal import Terminal

enum DatabaseCommands {
  static let spec = CommandGroup("db", summary: "The database: check, backup, restore, copy, migrate, purge")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["db", "check"], summary: "Check the database's integrity",
        discussion: """
          Reads the whole file; receiptd may run meanwhile. Reports which tables and indexes are damaged, \
          how many rows can still be read, and what to do. With PostgreSQL it checks the figures, the \
          settings that receipts depend on, and whether standbys receive the changes; pg_amcheck(1) checks \
          the server's files. Ends with 65 when there is a fault.
          """,
        examples: [ExampleSpec("receiptctl db check", "After a crash of the machine")]),
      run: DatabaseCheck.run),
    Verb(
      spec: CommandSpec(
        ["db", "backup"], summary: "Copy the database while receiptd runs, and verify the copy",
        discussion: """
          The copy is a consistent snapshot of the database, readable by its owner only. It gets its \
          name only when it is complete, checked and synced. An existing file stays, unless --force \
          replaces it. With - the verified copy goes to standard output, unless that is a terminal; \
          meanwhile it is beside the database, which needs the room. With PostgreSQL nothing is copied: it \
          prints the commands of the server's own tools, and ends with 77. The time \
          is recorded in the database, for the alert backup_old; --record does only that.
          """,
        arguments: [ArgumentSpec("FILE", help: "the copy; - is standard output")],
        options: [
          OptionSpec(
            flag: "record", help: "Copy nothing: record that another program has made the backup FILE"),
          OptionSpec(flag: "force", help: "Replace FILE if it exists, when the copy is complete"),
        ],
        examples: [
          ExampleSpec(
            "receiptctl db backup /var/backups/receiptd/receiptd-$(date -I).db", "Each night, from cron"),
          ExampleSpec("receiptctl db backup - | zstd > receiptd.db.zst", "Out of a container"),
          ExampleSpec("receiptctl db backup --record receiptd.dump", "After pg_dump"),
        ]), run: DatabaseBackup.run),
    Verb(
      spec: CommandSpec(
        ["db", "restore"], summary: "Replace the database with a backup, while receiptd is stopped",
        discussion: """
          Checks the backup first. The previous database is kept beside it under another name. Events after \
          the backup are not in it: the end of the output says how to fetch them, and which payments to \
          compare with the processor's portal. Receipts that were delivered since are pending in it, and \
          are sent again. With PostgreSQL nothing is replaced: it prints the commands of the server's own \
          tools, and ends with 77.
          """,
        arguments: [ArgumentSpec("FILE", help: "the backup")],
        options: [CommandTable.why] + CommandTable.asking,
        examples: [
          ExampleSpec(
            "receiptctl db restore /var/backups/receiptd/receiptd.db --dry-run",
            "Check the backup and its age"),
          ExampleSpec(
            "receiptctl db restore /var/backups/receiptd/receiptd.db --why 'disk failed'", "Restore it"),
        ]), run: DatabaseRestore.run),
    Verb(
      spec: CommandSpec(
        ["db", "copy"], summary: "Copy the database into an empty one, also of the other engine",
        discussion: """
          Between a file and PostgreSQL, in both directions, while receiptd is stopped. All rows keep their \
          numbers and ids. If it is interrupted, the same command continues. Then it compares every row with \
          its copy, and retires the database: receiptd and receiptctl refuse to change it, so that receipts \
          are not delivered from both. Ends with 65 when a row differs; the database can be used then.
          """,
        options: [
          OptionSpec(
            "to", placeholder: "PLACE",
            help: "The empty database, as in the configuration: a path, postgres://…, env:NAME, file:/path"),
          OptionSpec(
            flag: "undo", help: "Use this database again that was copied, if no receiptd has used the copy"),
          CommandTable.why,
        ] + CommandTable.asking,
        examples: [
          ExampleSpec("receiptctl db copy --to env:DATABASE_URL", "Move from a file to PostgreSQL"),
          ExampleSpec("receiptctl db copy --to /var/lib/receiptd/receiptd.db", "And back"),
          ExampleSpec("receiptctl db copy --undo --why 'not used'", "The copy is not used after all"),
        ]), run: { try $0.command.flag("undo") ? DatabaseUnretire.run($0) : DatabaseCopy.run($0) }),
    Verb(
      spec: CommandSpec(
        ["db", "unretire"], summary: "Use a database again that was copied",
        discussion: """
          Only if no receiptd has used the copy: what is pending in both is delivered from both, and what \
          only the copy has is lost.
          """,
        options: [CommandTable.why] + CommandTable.asking,
        examples: [ExampleSpec("receiptctl db unretire --why 'moved back'", "Undo a copy")],
        isHidden: true), run: DatabaseUnretire.run),
    Verb(
      spec: CommandSpec(
        ["db", "migrate"], summary: "Create or upgrade the tables of PostgreSQL with another role",
        discussion: """
          receiptd creates and upgrades its tables at the start. Where its role may not, an administrator \
          does it before each new version, with this command. Needs none for a file.
          """,
        options: [
          OptionSpec(
            "as", placeholder: "URL",
            help: "The same database with a role that may: postgres://…, env:NAME, file:/path"),
          OptionSpec(
            "grant", placeholder: "ROLE", help: "A role to read and write rows, for receiptd"),
        ],
        examples: [
          ExampleSpec("receiptctl db migrate --as env:ADMIN_URL --grant receiptd", "Before an upgrade")
        ]), run: DatabaseMigrate.run),
    Verb(
      spec: CommandSpec(
        ["db", "purge"], summary: "Delete now all data that is older than the configuration's retention",
        discussion: """
          receiptd does so every hour; use this after shortening retention. It works in short transactions, \
          so receiptd may run meanwhile.
          """,
        options: [CommandTable.why] + CommandTable.asking,
        examples: [ExampleSpec("receiptctl db purge --dry-run", "Count the rows to delete")]),
      run: DatabasePurge.run),
  ]
}

/// `db migrate`: an administrator does what receiptd's own role may not.
private enum DatabaseMigrate {
  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let place =
      try session.command.options["as"].map { named in
        try ConfigurationLoader.database(
          named, option: "--as", folder: ".", environment: session.dependencies.environment)
      } ?? configuration.database
    guard case .postgres(let url) = place else {
      session.output.note("Nothing to do: receiptd upgrades a database file itself, when it starts.")
      return .done
    }
    let (before, now): (Int, Int)
    let text = try DatabaseAccess.text(of: url)
    do throws(StoreError) {
      (before, now) = try PostgresSchema.migrate(
        text, granting: session.command.options["grant"],
        application: OperatorProgram.name)
    } catch {
      throw OperatorFault(error, place)
    }
    guard !session.isJSON else {
      session.output.json(["before": .integer(Int64(before)), "version": .integer(Int64(now))])
      return .done
    }
    let change =
      before == now ? "already" : before == 0 ? "now, in an empty database," : "now, before \(before),"
    session.output.line("\(DisplayText.clean(url.description)): the tables are \(change) of version \(now)")
    return .done
  }
}
