// One line that says how far a long command is when nobody knows how much there is. On a terminal's stderr
// only, and at most ten times a second. One thread.

public import Platform

/// Progress without a known end.
public struct ProgressLine {
  private static let drawIntervalMilliseconds: Int64 = 100

  private let channel: OutputChannel
  private let clock: any Clock
  private var lastDrawn: MonotonicInstant?

  /// - Parameter channel: stderr; nothing is drawn when it is no terminal.
  public init(on channel: OutputChannel, clock: any Clock = SystemClock()) {
    self.channel = channel
    self.clock = clock
  }

  /// Shows a text in place of the one before.
  /// - Parameter text: what comes from outside is clean already.
  public mutating func update(_ text: String) {
    guard channel.isTerminal else { return }
    let now = clock.monotonic
    if let lastDrawn, now.milliseconds(since: lastDrawn) < Self.drawIntervalMilliseconds { return }
    lastDrawn = now
    // Back to the first column, then clear what the last drawing left behind (ECMA-48 EL).
    channel.write("\r\(DisplayText.truncated(text, to: max(1, (channel.columns ?? 80) - 1)))\u{1B}[K")
  }

  /// Clears the line. To be called before anything else is written, also after a failure.
  public mutating func finish() {
    guard lastDrawn != nil, channel.isTerminal else { return }
    lastDrawn = nil
    channel.write("\r\u{1B}[K")
  }
}
