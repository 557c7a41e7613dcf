// The configuration in force, as `receiptctl config show` prints it: every key with its value, and of each
// secret only its source (R7). Keys and formats of values match the file. Pure; any thread.

public import Formats

extension Configuration {
  /// Every key with the value in force. A secret is shown as `env:NAME`, `file:/path` or `(set in place)`; a
  /// URL is shown without userinfo and without the values of its query.
  public var redacted: JSONValue { Self.section(registry).show(self) }
}
