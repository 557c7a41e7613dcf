// How long contexts are kept, for the ids that clients choose. Thread-safe.

package import Config
internal import Domain
internal import Formats
internal import Platform

/// The configured retention of contexts. A reload of the configuration replaces it.
public final class ContextRetention: Sendable {
  private let duration: Monitor<Duration>

  package init(_ retention: Configuration.Retention) { duration = Monitor(retention.contexts) }

  /// Uses a new configuration.
  package func use(_ retention: Configuration.Retention) {
    duration.update { $0 = retention.contexts }
  }

  /// Which ids the relay accepts.
  var rule: ContextIDRule { ContextIDRule(retention: duration.withLock { $0 }) }
}
