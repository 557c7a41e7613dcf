// A receipt that has no destination, as text. Pure; called from any thread.

public import Domain

/// What to say of a pending receipt whose processor is no longer in its app's configuration.
public enum UnconfiguredProcessor {
  /// - Parameter app: not sanitized.
  public static func advice(_ processor: ProcessorName, app: String) -> String {
    "No destination accepts it: apps.\(app) has no section \(processor) any more. It is not sent "
      + "until that section is configured again. Add it, then run: receiptctl reload"
  }
}
