// The manual page of the configuration, generated from the declarations of the keys. Pure; any thread.

internal import Config
internal import Service
internal import Terminal

enum ConfigurationManual {
  /// The text of the page.
  static var text: String {
    var page = Roff("receiptd.json5", section: 5, source: "Receipt Relay \(Version.number)")
    page.name("receiptd.json5", "configuration of receiptd and receiptctl")
    page.section("DESCRIPTION")
    page.paragraph(
      """
      One JSON5 file: comments and trailing commas are allowed, and an unknown key is a fault. Durations are \
      "250ms", "30s", "5m", "72h", "30d"; sizes are "512B", "64KiB", "1MiB". A secret is "file:/path", read \
      from a file without the newline at its end, "env:NAME", read from an environment variable, or the text \
      itself.
      """)
    page.paragraph(
      """
      receiptctl config init writes a starter file, receiptctl config check reports every fault, and \
      receiptctl config schema prints a JSON Schema for editors; a file may name it in the key $schema, \
      which receiptd ignores. receiptctl reload makes a running receiptd read the file and the files of \
      secrets again, and reports the result. Some keys are used at the start only, which is said below; so \
      are secrets in the environment and systemd credentials.
      """)
    page.section("KEYS")
    for entry in ConfigurationReference.entries { add(entry, to: &page) }
    page.section("SEE ALSO")
    page.paragraph("receiptd(8), receiptctl(1)")
    return page.text
  }

  private static func add(_ entry: ConfigurationEntry, to page: inout Roff) {
    guard !entry.key.shape.members.isEmpty else { return page.term(entry.path, entry.key.paragraph) }
    page.subsection(entry.path)
    page.paragraph(entry.key.paragraph)
  }
}
