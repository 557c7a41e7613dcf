// Timestamps in JSON. Pure; called from any thread.

public import Domain
public import Formats

extension JSONValue {
  /// RFC 3339, in UTC, with milliseconds.
  public static func time(_ timestamp: Timestamp) -> JSONValue { .string(timestamp.rfc3339) }
}
