// The current apps. A reload replaces all of them at once. Thread-safe.

internal import Platform

/// Holds the current apps.
public final class AppRegistry: Sendable {
  private let directory: Monitor<AppDirectory>

  public init(_ directory: AppDirectory) { self.directory = Monitor(directory) }

  public var current: AppDirectory { directory.withLock { $0 } }

  public func replace(with new: AppDirectory) { directory.withLock { $0 = new } }
}
