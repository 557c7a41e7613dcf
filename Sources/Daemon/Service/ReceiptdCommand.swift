// receiptd's command line: the one table that parses, prints help and generates its manual page. Pure; any
// thread.

internal import Config
public import Terminal

/// The command line of `receiptd`.
public enum ReceiptdCommand {
  public static let spec = ProgramSpec(
    name: "receiptd", version: Version.number, origin: Version.origin,
    summary: "receives web checkouts' contexts and payments, and delivers the receipts",
    discussion: """
      Runs in the foreground and logs to stderr. SIGTERM and SIGINT stop it once everything in flight is \
      stored; SIGHUP makes it read its configuration again: receiptctl reload, which reports the result. \
      A listening socket that the service manager passes on (receiptd.socket) is used for the listener with \
      its address.
      """,
    options: [
      OptionSpec(
        "config", placeholder: "PATH",
        help: "the configuration file; else $RECEIPTD_CONFIG, else \(ConfigurationLoader.defaultPath)"),
      OptionSpec(
        flag: "check", help: "only check the configuration: 0 when it is good, 78 with every fault when not"),
      OptionSpec(
        flag: "new-database",
        help: "start with an empty database when the old one is lost; for one start, never in a unit"),
      OptionSpec(
        flag: "without-log",
        help: "start without the log of a crashed run when it is lost; for one start, never in a unit"),
    ],
    groups: [],
    commands: [CommandSpec([], summary: "run the daemon", examples: examples)],
    examples: examples)

  private static let examples = [
    ExampleSpec(
      "receiptd --check --config /etc/receiptd/receiptd.json5", "find every fault of a configuration"),
    ExampleSpec("receiptd --config receiptd.json5", "run with this configuration"),
  ]
}
