// A chart of deliveries and failures over time: delivered receipts upwards, failed ones downwards, so that it
// is readable without colours. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// A chart with its numbers as a table.
struct DeliveryChart {
  struct Bar {
    var start: Timestamp
    var count: DeliveryCount
  }

  let span: ChartSpan
  let bars: [Bar]

  private static let height = 80.0
  private static let slot = 10.0
  /// The smallest visible height of a bar.
  private static let heightMin = 2.0

  /// - Parameter hours: at least those of the span, the oldest first.
  init(_ span: ChartSpan, _ hours: [DeliveryCount], now: Timestamp) {
    let (counts, each) = (Array(hours.suffix(Int(span.hours))), Int(span.hoursEach))
    let first = DeliveryHistory.hour(of: now) - Int64(counts.count) + 1
    self.span = span
    bars = stride(from: 0, to: counts.count, by: each).map { offset in
      let sum = counts[offset..<min(offset + each, counts.count)].reduce(DeliveryCount(), +)
      return Bar(start: DeliveryHistory.start(ofHour: first + Int64(offset)), count: sum)
    }
  }

  private var title: String { span.title }

  private var total: DeliveryCount { bars.reduce(DeliveryCount()) { $0 + $1.count } }

  var html: HTML {
    let total = total
    return Tag.div(.class("chart")) {
      Tag.div(.class("chart-head")) {
        Tag.h3 { title }
        Tag.p {
          Tag.span(.class("key good")) { "\(PageParts.number(total.delivered)) delivered" }
          " "
          Tag.span(.class("key bad")) { "\(PageParts.number(total.failed)) failed" }
        }
      }
      if total == DeliveryCount() {
        Tag.p(.class("quiet-chart")) { "Nothing was delivered, and nothing failed." }
      } else {
        let isDrawn = bars.count { $0.count != DeliveryCount() } >= ChartSpan.pointsMin
        if isDrawn {
          let bounds = bounds
          Tag.div(.class("scaled")) {
            marks(bounds)
            drawing(total, bounds)
          }
          Tag.div(.class("axis scaled-axis"), .hiddenFromReaders()) {
            for time in span.marks(bars.map(\.start)) { Tag.span { time } }
          }
        }
        Tag.details(.open(!isDrawn)) {
          Tag.summary { "\(title) as a table" }
          table
        }
      }
    }
  }

  /// The highest bars, and where they start from.
  private struct Bounds {
    var up: Int64
    var down: Int64
    var base: Double
  }

  private var bounds: Bounds {
    let up = bars.map(\.count.delivered).max() ?? 0
    let down = bars.map(\.count.failed).max() ?? 0
    // One scale for both directions; if one of them is empty, the other has the whole height.
    let lowest = down > 0 ? Self.height - 3 * Self.heightMin : Self.height - 1
    let highest = up > 0 ? 3 * Self.heightMin : 1
    let whole = Double(up) + Double(down)
    let base = min(lowest, max(highest, whole > 0 ? Self.height * Double(up) / whole : lowest))
    return Bounds(up: up, down: down, base: base)
  }

  /// The labels of the scale.
  private func marks(_ bounds: Bounds) -> HTML {
    let (top, bottom, text) = (8.0, Self.height - 1, 9.0)
    // Half of the text is above its line, but never outside of the drawing.
    let zero = min(max(bounds.base + 3, top), bottom)
    var marks: [(y: Double, count: Int64)] = []
    if bounds.up > 0 { marks.append((top, bounds.up)) }
    if bounds.down > 0 { marks.append((bottom, bounds.down)) }
    // Texts do not overlap.
    if marks.allSatisfy({ abs($0.y - zero) >= text }) { marks.append((zero, 0)) }
    return Tag.svg(
      .class("scale"), Attribute("viewBox", "0 0 60 \(DrawnNumber.text(Self.height))"), .hiddenFromReaders()
    ) {
      for mark in marks {
        Tag.text(
          Attribute("x", "56"), Attribute("y", DrawnNumber.text(mark.y)), Attribute("text-anchor", "end")
        ) { PageParts.number(mark.count) }
      }
    }
  }

  private func drawing(_ total: DeliveryCount, _ bounds: Bounds) -> HTML {
    let width = Double(bars.count) * Self.slot
    let (up, down, base) = (bounds.up, bounds.down, bounds.base)
    return Tag.svg(
      Attribute("viewBox", "0 0 \(DrawnNumber.text(width)) \(DrawnNumber.text(Self.height))"),
      Attribute("preserveAspectRatio", "none"), .role("img"), .labelledBy("deliveries-title deliveries-desc")
    ) {
      Tag.title(.id("deliveries-title")) { "\(title): deliveries and failures, \(span.step) each" }
      Tag.desc(.id("deliveries-desc")) {
        "\(PageParts.number(total.delivered)) delivered and \(PageParts.number(total.failed)) failed in all; "
          + "at most \(PageParts.number(up)) delivered and \(PageParts.number(down)) failed in \(span.step)."
      }
      for (index, bar) in bars.enumerated() {
        let x = Double(index) * Self.slot + 1
        rect(x, base, share(bar.count.delivered, of: up) * base, isUp: true, bar)
        rect(x, base, share(bar.count.failed, of: down) * (Self.height - base), isUp: false, bar)
      }
      Tag.line(
        .class("base"), Attribute("x1", "0"), Attribute("x2", DrawnNumber.text(width)),
        Attribute("y1", DrawnNumber.text(base)), Attribute("y2", DrawnNumber.text(base)))
    }
  }

  private func rect(_ x: Double, _ base: Double, _ exact: Double, isUp: Bool, _ bar: Bar) -> HTML {
    guard exact > 0 else { return HTML() }
    let height = max(exact, Self.heightMin)
    return Tag.rect(
      .class(isUp ? "good" : "bad"), Attribute("x", DrawnNumber.text(x)),
      Attribute("y", DrawnNumber.text(isUp ? base - height : base)),
      Attribute("width", DrawnNumber.text(Self.slot - 2)),
      Attribute("height", DrawnNumber.text(height))
    ) {
      Tag.title {
        "\(name(bar)): \(PageParts.number(bar.count.delivered)) delivered, "
          + "\(PageParts.number(bar.count.failed)) failed"
      }
    }
  }

  private func name(_ bar: Bar) -> String { ChartTime.text(bar.start) }

  private func share(_ part: Int64, of whole: Int64) -> Double {
    whole > 0 ? max(0, Double(part) / Double(whole)) : 0
  }

  private var table: HTML {
    var table = DataTable(
      "\(title), \(span.step) each",
      [.init("From"), .init("Delivered", isNumber: true), .init("Failed", isNumber: true)])
    // Leave out empty hours: a quiet app has mostly those.
    let busy = bars.filter { $0.count != DeliveryCount() }
    table.rows = busy.reversed().map { bar in
      [
        Tag.time(.datetime(bar.start.rfc3339)) { name(bar) },
        HTML(text: PageParts.number(bar.count.delivered)),
        HTML(text: PageParts.number(bar.count.failed)),
      ]
    }
    return table.html
  }
}
