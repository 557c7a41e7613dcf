// `receiptctl db`: whether the database is sound, and copies of it.

internal import Terminal

enum DatabaseNoun {
  static let spec = NounSpec("db", summary: "The database file: soundness, copies, what is old")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["db", "check"], summary: "Check the database's integrity",
        discussion: """
          Reads the whole file; receiptd may go on meanwhile. Says which tables and indexes are damaged, how \
          much of them can still be read, what that means, and what to do. Ends with 65 when there is a fault.
          """,
        examples: [ExampleSpec("receiptctl db check", "After a crash of the machine")]),
      run: DatabaseCheck.run),
    Verb(
      spec: CommandSpec(
        ["db", "backup"], summary: "Copy the database, while receiptd goes on, and verify the copy",
        discussion: """
          The copy is the database as it was at one moment, readable by its owner only. It stands under \
          its name once it is whole, checked and synced, never before. An existing file is never \
          overwritten.
          """,
        arguments: [ArgumentSpec("FILE", help: "the copy, a name that is not taken")],
        examples: [
          ExampleSpec("receiptctl db backup /var/backups/receiptd-$(date -I).db", "Each night, from cron")
        ]), run: DatabaseBackup.run),
    Verb(
      spec: CommandSpec(
        ["db", "restore"], summary: "Put a backup in the place of the database, while receiptd is stopped",
        discussion: """
          Checks the backup first. The database that was there stays beside it under another name. What \
          came after the backup is not in it: fetch it with events backfill afterwards. Receipts that were \
          delivered since are pending again in it, and are sent again.
          """,
        arguments: [ArgumentSpec("FILE", help: "the backup")],
        options: [CommandTable.reason] + CommandTable.asking,
        examples: [
          ExampleSpec(
            "receiptctl db restore /var/backups/receiptd.db --dry-run", "Is it good, how old is it?"),
          ExampleSpec(
            "receiptctl db restore /var/backups/receiptd.db --reason 'disk failed'", "Go back to it"),
        ]), run: DatabaseRestore.run),
    Verb(
      spec: CommandSpec(
        ["db", "purge"], summary: "Delete now what is older than the configuration's retention",
        discussion: """
          receiptd does so by itself, every hour; this is for whoever has just shortened retention. In short \
          transactions, so receiptd may go on.
          """,
        options: [CommandTable.reason] + CommandTable.asking,
        examples: [ExampleSpec("receiptctl db purge --dry-run", "How much would go?")]),
      run: DatabasePurge.run),
  ]
}
