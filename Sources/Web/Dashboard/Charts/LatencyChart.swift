// A chart of how long something took, over time: the median and the 99th percentile, with a scale. Pure;
// called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// A chart with its numbers as a table.
struct LatencyChart {
  struct Point {
    var start: Timestamp
    /// Empty if nothing happened then.
    var counts: LatencyCounts
  }

  let title: String
  let span: ChartSpan
  /// Oldest first.
  let points: [Point]
  /// The prefix of element ids on the page.
  let id: String

  private static let height = 80.0
  private static let slot = 10.0

  private struct Line {
    var name: String
    var style: String
    var share: Double
  }

  private static let lines = [
    Line(name: "p50", style: "half", share: 0.5), Line(name: "p99", style: "most", share: 0.99),
  ]

  private var all: LatencyCounts { points.map(\.counts).reduce(LatencyCounts(), +) }

  private func milliseconds(_ point: Point, _ line: Line) -> Double? {
    point.counts.quantile(line.share).map { Double($0.nanoseconds) / 1_000_000 }
  }

  private var scale: ChartScale {
    ChartScale(covering: points.flatMap { point in Self.lines.compactMap { milliseconds(point, $0) } })
  }

  var html: HTML {
    let all = all
    return Tag.div(.class("chart")) {
      Tag.div(.class("chart-head")) {
        Tag.h3 { title }
        if all.total > 0 {
          Tag.p {
            for line in Self.lines {
              Tag.span(.class("key \(line.style)")) {
                "\(line.name) \(LatencyText.time(all.quantile(line.share)))"
              }
              " "
            }
          }
        }
      }
      if all.total == 0 {
        Tag.p(.class("quiet-chart")) { "Nothing was sent." }
      } else {
        let isDrawn = points.count { $0.counts.total > 0 } >= ChartSpan.pointsMin
        if isDrawn {
          Tag.div(.class("scaled")) {
            marks
            drawing
          }
          Tag.div(.class("axis scaled-axis"), .hiddenFromReaders()) {
            for mark in span.marks(points.map(\.start)) { Tag.span { mark } }
          }
        }
        Tag.details(.open(!isDrawn)) {
          Tag.summary { "\(title) as a table" }
          table
        }
      }
    }
  }

  /// The labels of the scale, from above.
  private var marks: HTML {
    let scale = scale
    return Tag.svg(
      .class("scale"), Attribute("viewBox", "0 0 60 \(DrawnNumber.text(Self.height))"), .hiddenFromReaders()
    ) {
      for step in scale.labelled {
        // Half of the text is above its line, but never outside of the drawing.
        let y = min(max(Self.y(scale, step) + 3, 8), Self.height - 1)
        Tag.text(
          Attribute("x", "56"), Attribute("y", DrawnNumber.text(y)), Attribute("text-anchor", "end")
        ) { Self.label(step) }
      }
    }
  }

  /// Steps are decimal, so some minutes are better read in seconds: 100 s, not 1.7 min.
  private static func label(_ step: Double) -> String {
    (60_000...1_000_000).contains(step)
      ? "\(PageParts.number(Int64((step / 1000).rounded()))) s"
      : LatencyText.time(.microseconds(Int64((step * 1000).rounded())))
  }

  private static func y(_ scale: ChartScale, _ value: Double) -> Double {
    height - 1 - scale.position(of: value) * (height - 2)
  }

  private var drawing: HTML {
    let scale = scale
    let width = Double(points.count) * Self.slot
    return Tag.svg(
      Attribute("viewBox", "0 0 \(DrawnNumber.text(width)) \(DrawnNumber.text(Self.height))"),
      Attribute("preserveAspectRatio", "none"), .role("img"), .labelledBy("\(id)-title \(id)-desc")
    ) {
      Tag.title(.id("\(id)-title")) { "\(title): p50 and p99, \(span.step) each" }
      Tag.desc(.id("\(id)-desc")) {
        Self.lines.map { "\($0.name) \(LatencyText.time(all.quantile($0.share)))" }.joined(separator: ", ")
          + " in all, of \(PageParts.number(all.total))."
      }
      for step in scale.labelled {
        line(.class("grid"), (0, Self.y(scale, step)), (width, Self.y(scale, step)), "")
      }
      for style in Self.lines { curve(style, scale) }
    }
  }

  /// A line from each point to the next one; a point without neighbours is a dot.
  @HTMLBuilder private func curve(_ style: Line, _ scale: ChartScale) -> HTML {
    for (index, point) in points.enumerated() {
      if let value = milliseconds(point, style) {
        let x = (Double(index) + 0.5) * Self.slot
        let next = index + 1 < points.count ? milliseconds(points[index + 1], style) : nil
        let isAlone = next == nil && (index == 0 || milliseconds(points[index - 1], style) == nil)
        line(
          .class(isAlone ? "\(style.style) dot" : style.style), (x, Self.y(scale, value)),
          (next == nil ? x : x + Self.slot, Self.y(scale, next ?? value)), name(point))
      }
    }
  }

  private func line(
    _ style: Attribute, _ from: (x: Double, y: Double), _ to: (x: Double, y: Double), _ title: String
  ) -> HTML {
    Tag.line(
      style, Attribute("x1", DrawnNumber.text(from.x)), Attribute("y1", DrawnNumber.text(from.y)),
      Attribute("x2", DrawnNumber.text(to.x)), Attribute("y2", DrawnNumber.text(to.y))
    ) { if !title.isEmpty { Tag.title { title } } }
  }

  private func texts(_ point: Point) -> [String] {
    Self.lines.map { LatencyText.time(point.counts.quantile($0.share)) }
  }

  private func name(_ point: Point) -> String {
    let texts = zip(Self.lines, texts(point)).map { "\($0.name) \($1)" }.joined(separator: ", ")
    return "\(ChartTime.text(point.start)): \(texts), of \(PageParts.number(point.counts.total))"
  }

  private var table: HTML {
    var table = DataTable(
      "\(title), \(span.step) each",
      [.init("From"), .init("Number", isNumber: true)]
        + Self.lines.map { .init($0.name, isNumber: true) })
    table.rows = points.filter { $0.counts.total > 0 }.reversed().map { point in
      [
        Tag.time(.datetime(point.start.rfc3339)) { ChartTime.text(point.start) },
        HTML(text: PageParts.number(point.counts.total)),
      ] + texts(point).map { HTML(text: $0) }
    }
    return table.html
  }
}
