// A bar that shows how far a long command is. On a terminal's stderr only, and at most ten times a second.
// One thread.

public import Platform

/// Progress towards a known total.
public struct ProgressBar {
  private static let drawIntervalMilliseconds: Int64 = 100
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
  ///   - label: what is being done, such as `replaying`.
  ///   - doneBefore: how much was done before anybody looked; it says nothing of the rate.
  ///   - channel: stderr; nothing is drawn when it is no terminal.
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

  /// Shows how much is done.
  /// - Parameter secondsLeft: how long the rest takes at least, where that is known.
  public mutating func update(done: Int, secondsLeft: Double? = nil) {
    self.done = min(max(0, done), total)
    self.secondsLeft = secondsLeft
    let now = clock.monotonic
    if let lastDrawn, now.milliseconds(since: lastDrawn) < Self.drawIntervalMilliseconds, self.done < total {
      return
    }
    lastDrawn = now
    draw(now)
  }

  /// Leaves the bar as it is and goes on to the next line. To be called once, also after a failure.
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
    // Back to the first column, then clear what the last drawing left behind (ECMA-48 EL).
    channel.write("\r\(text)\u{1B}[K")
  }

  /// `replaying [######------] 50/100  25/s  2 s left`, cut to the width.
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
    // Nothing goes faster than it is known to; and a guess of years is no information.
    if let left = [guess, secondsLeft].compactMap(\.self).max(), done < total, left < 1e8 {
      text += "  \(RelativeTime.span(seconds: UInt64(max(0, left).rounded(.up)))) left"
    }
    // One column stays free: a full line would wrap on some terminals.
    return DisplayText.truncated(text, to: max(1, columns - 1))
  }

  private static func rateText(_ rate: Double) -> String {
    if rate >= 10 { return CountText.grouped(UInt64(min(rate, 1e15))) }
    let tenths = UInt64((rate * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
