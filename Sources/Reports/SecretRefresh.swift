// How a running receiptd gets the changed value of a secret: the command that all texts name. Pure; called
// from any thread.

/// What makes a new value of a secret take effect.
public enum SecretRefresh: Sendable, Equatable {
  /// A reload reads it again: the secret is in a file, or in the configuration.
  case reload
  /// Only a restart reads it again: a running process keeps its environment and its systemd credentials.
  /// - Parameter source: of the secret, such as `env:NAME`.
  case restart(source: String)

  /// The end of a sentence about a secret to correct.
  /// - Parameters:
  ///   - refresh: nil if the secret's source is unknown.
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
