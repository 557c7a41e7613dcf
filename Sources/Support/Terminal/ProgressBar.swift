// A progress bar for a long command. Only on a terminal's stderr, and at most ten updates a second. One
// thread.

public import Platform

/// Progress towards a known total.
public struct ProgressBar {
  private static let drawInterval: Duration = .milliseconds(100)
  private static let barColumns = 24

  private let label: String
  private let total: Int
  private let channel: OutputChannel
  private let clock: any Clock
  private let start: MonotonicInstant
  private let doneBefore: Int
  private var lastDrawn: MonotonicInstant?
  private var done = 0
  private var secondsLeft: Double?

  /// - Parameters:
  ///   - label: the current activity, such as `replaying`.
  ///   - doneBefore: work that was done before the start; it does not count for the rate.
  ///   - channel: stderr; nothing is drawn unless it is a terminal.
  public init(
    _ label: String, total: Int, doneBefore: Int = 0, on channel: OutputChannel,
    clock: any Clock = SystemClock()
  ) {
    self.label = DisplayText.clean(label)
    self.total = max(0, total)
    self.doneBefore = doneBefore
    self.channel = channel
    self.clock = clock
    start = clock.monotonic
  }

  /// Updates the progress.
  /// - Parameter secondsLeft: the least remaining time, if it is known.
  public mutating func update(done: Int, secondsLeft: Double? = nil) {
    self.done = min(max(0, done), total)
    self.secondsLeft = secondsLeft
    let now = clock.monotonic
    if let lastDrawn, now.duration(since: lastDrawn) < Self.drawInterval, self.done < total {
      return
    }
    lastDrawn = now
    draw(now)
  }

  /// Leaves the bar on the screen and moves to the next line. Call it once, also after a failure.
  public mutating func finish() {
    guard lastDrawn != nil else { return }
    draw(clock.monotonic)
    if channel.isTerminal { channel.write("\n") }
  }

  private func draw(_ now: MonotonicInstant) {
    guard channel.isTerminal else { return }
    let text = Self.text(
      label, done: done, total: total, doneBefore: doneBefore, elapsedSeconds: now.seconds(since: start),
      secondsLeft: secondsLeft, columns: channel.columns ?? 80)
    // Moves to the first column, and clears the rest of the line after the text (ECMA-48 EL).
    channel.write("\r\(text)\u{1B}[K")
  }

  /// `replaying [######------] 50/100  25/s  2 s left`, truncated to the width.
  static func text(
    _ label: String, done: Int, total: Int, doneBefore: Int = 0, elapsedSeconds: Double,
    secondsLeft: Double? = nil, columns: Int
  ) -> String {
    let share = total > 0 ? Double(done) / Double(total) : 1
    let filled = Int(share * Double(barColumns))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: barColumns - filled)
    var text = "\(label) [\(bar)] \(CountText.grouped(done))/\(CountText.grouped(total))"
    let rate = elapsedSeconds > 0 ? Double(max(0, done - doneBefore)) / elapsedSeconds : 0
    if rate > 0 { text += "  \(rateText(rate))/s" }
    let guess = rate > 0 ? Double(total - done) / rate : nil
    // The estimate is never below the known minimum; an estimate of years is not shown.
    if let left = [guess, secondsLeft].compactMap(\.self).max(), done < total, left < 1e8 {
      text += "  \(RelativeTime.left(seconds: left)) left"
    }
    // Leaves one column free: a full line would wrap on some terminals.
    return DisplayText.truncated(text, to: max(1, columns - 1))
  }

  private static func rateText(_ rate: Double) -> String {
    if rate >= 10 { return CountText.grouped(UInt64(min(rate, 1e15))) }
    let tenths = UInt64((rate * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

// MARK: - ProgressLine

// One progress line for a long command whose total is unknown. Only on a terminal's stderr, and at most ten
// updates a second. One thread.

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
