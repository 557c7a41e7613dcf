// One progress line for a long command whose total is unknown. Only on a terminal's stderr, and at most ten
// updates a second. One thread.

public import Platform

/// Progress without a known total.
public struct ProgressLine {
  private static let drawInterval: Duration = .milliseconds(100)

  private let channel: OutputChannel
  private let clock: any Clock
  private var lastDrawn: MonotonicInstant?

  /// - Parameter channel: stderr; nothing is drawn unless it is a terminal.
  public init(on channel: OutputChannel, clock: any Clock = SystemClock()) {
    self.channel = channel
    self.clock = clock
  }

  /// Replaces the previous text.
  /// - Parameter text: must be clean (`DisplayText.clean`).
  public mutating func update(_ text: String) {
    guard channel.isTerminal else { return }
    let now = clock.monotonic
    if let lastDrawn, now.duration(since: lastDrawn) < Self.drawInterval { return }
    lastDrawn = now
    // Moves to the first column, and clears the rest of the line after the text (ECMA-48 EL).
    channel.write("\r\(DisplayText.truncated(text, to: max(1, (channel.columns ?? 80) - 1)))\u{1B}[K")
  }

  /// Clears the line. Call it before any other output, also after a failure.
  public mutating func finish() {
    guard lastDrawn != nil, channel.isTerminal else { return }
    lastDrawn = nil
    channel.write("\r\u{1B}[K")
  }
}
