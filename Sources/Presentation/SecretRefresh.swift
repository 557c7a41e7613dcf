// How a running receiptd gets the new value of a secret that its operator changed: which command every text
// names. Pure; any thread.

/// What makes a new value of a secret take effect.
public enum SecretRefresh: Sendable, Equatable {
  /// A reload reads it again: it is in a file, or in the configuration itself.
  case reload
  /// Only a restart: a running process keeps its environment and its systemd credentials.
  /// - Parameter source: where it is, such as `env:NAME`.
  case restart(source: String)

  /// Ends a sentence about a secret that is to be corrected.
  /// - Parameters:
  ///   - refresh: nil where the secret's source is not known.
  ///   - name: the secret's key.
  public static func command(_ refresh: SecretRefresh?, of name: String) -> String {
    switch refresh {
    case .reload: "then run: receiptctl reload"
    case .restart(let source):
      "then run: systemctl restart receiptd (\(name) is \(source), which a reload does not read again)"
    case nil:
      "then run: receiptctl reload (or systemctl restart receiptd, if \(name) is in the environment or a "
        + "systemd credential, which a reload does not read again)"
    }
  }
}
