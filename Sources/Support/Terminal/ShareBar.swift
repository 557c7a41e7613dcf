// A progress bar for work of several parts, as a share of the whole. Only on a terminal's stderr, and at most
// ten updates a second. One thread at a time.

public import Platform

/// Progress as a share of all work.
public struct ShareBar: Sendable {
  private static let drawInterval: Duration = .milliseconds(100)
  private static let barColumns = 24

  private let channel: OutputChannel
  private let clock: any Clock
  private let start: MonotonicInstant
  private var lastDrawn: MonotonicInstant?
  private var label = ""
  private var share = 0.0

  /// - Parameter channel: stderr; nothing is drawn unless it is a terminal.
  public init(on channel: OutputChannel, clock: any Clock = SystemClock()) {
    self.channel = channel
    self.clock = clock
    start = clock.monotonic
  }

  /// Updates the progress, which never goes back.
  /// - Parameters:
  ///   - label: the current activity, such as `checking`; must be clean (`DisplayText.clean`).
  ///   - share: of all work, 0…1.
  public mutating func update(_ label: String, share: Double) {
    self.label = label
    self.share = min(1, max(self.share, share))
    let now = clock.monotonic
    if let lastDrawn, now.duration(since: lastDrawn) < Self.drawInterval { return }
    lastDrawn = now
    draw(now)
  }

  /// Clears the line, so that another text can be written. The next update draws it again.
  public mutating func clear() {
    guard lastDrawn != nil, channel.isTerminal else { return }
    lastDrawn = nil
    channel.write("\r\u{1B}[K")
  }

  /// Draws the bar for the last time, and moves to the next line.
  public mutating func finish() {
    guard channel.isTerminal, !label.isEmpty else { return }
    share = 1
    draw(clock.monotonic)
    channel.write("\n")
  }

  private func draw(_ now: MonotonicInstant) {
    guard channel.isTerminal else { return }
    let text = Self.text(
      label, share: share, elapsedSeconds: now.seconds(since: start), columns: channel.columns ?? 80)
    // Moves to the first column, and clears the rest of the line after the text (ECMA-48 EL).
    channel.write("\r\(text)\u{1B}[K")
  }

  /// `checking  [######------]  50 %  12 s left`, truncated to the width.
  static func text(_ label: String, share: Double, elapsedSeconds: Double, columns: Int) -> String {
    let filled = Int(share * Double(barColumns))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: barColumns - filled)
    var text = "\(label)  [\(bar)] \(Int((share * 100).rounded(.down))) %"
    // An estimate from the first moments would jump.
    if share > 0.02, share < 1, elapsedSeconds >= 1 {
      let left = elapsedSeconds / share * (1 - share)
      if left < 1e8 { text += "  \(RelativeTime.left(seconds: left)) left" }
    }
    // Leaves one column free: a full line would wrap on some terminals.
    return DisplayText.truncated(text, to: max(1, columns - 1))
  }
}
