// The deliveries of a day in the space of a word. The numbers stand beside it, so it is decoration for screen
// readers. Pure; called from any thread.

internal import Formats
internal import Store

struct Sparkline {
  private static let height: Int64 = 20
  private static let slot: Int64 = 4

  /// Oldest first.
  let hours: [DeliveryCount]

  var html: HTML {
    let most = hours.map { $0.delivered + $0.failed }.max() ?? 0
    guard most > 0 else { return Tag.span(.class("none")) { "–" } }
    let width = Int64(hours.count) * Self.slot
    return Tag.svg(
      .class("spark"), Attribute("viewBox", "0 0 \(width) \(Self.height)"),
      Attribute("preserveAspectRatio", "none"), .hiddenFromReaders()
    ) {
      for (index, hour) in hours.enumerated() {
        let (good, bad) = (share(hour.delivered, of: most), share(hour.failed, of: most))
        bar(index, from: Self.height, height: good, "good")
        bar(index, from: Self.height - good, height: bad, "bad")
      }
    }
  }

  /// At least one, so that a single receipt is seen.
  private func share(_ part: Int64, of most: Int64) -> Int64 {
    part > 0 ? max(1, Int64(Double(part) / Double(most) * Double(Self.height))) : 0
  }

  private func bar(_ index: Int, from bottom: Int64, height: Int64, _ kind: String) -> HTML {
    guard height > 0 else { return HTML() }
    return Tag.rect(
      .class(kind), Attribute("x", "\(Int64(index) * Self.slot)"),
      Attribute("y", "\(max(0, bottom - height))"),
      Attribute("width", "\(Self.slot - 1)"), Attribute("height", "\(height)"))
  }
}
