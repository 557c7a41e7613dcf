// How the contexts of an app join: one bar for each period, with a scale, and the numbers as a table. Pure;
// called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct JoinChart {
  private static let height = 100.0
  private static let slot = 10.0

  let span: ChartSpan
  /// The oldest first, without gaps.
  let periods: [JoinPeriod]
  /// The last hours, if the contexts no longer join.
  let broken: JoinTally?

  private var total: JoinTally { periods.reduce(JoinTally()) { $0 + $1.tally } }
  private var top: Int64 { periods.map(\.tally.total).max() ?? 0 }

  var html: HTML {
    Tag.section(.class("card"), .labelledBy("joins")) {
      Tag.h2(.id("joins")) { "How contexts join" }
      if let broken {
        PageParts.notice("bad") { Tag.p { "Contexts no longer join: \(JoinText.broken(broken))." } }
      }
      if total == JoinTally() {
        Tag.p(.class("quiet-chart")) { "No receipt was made, and no context was posted." }
      } else {
        chart
      }
    }
  }

  private var chart: HTML {
    let total = total
    return Tag.div(.class("chart")) {
      Tag.div(.class("chart-head")) {
        Tag.h3 { span.title }
        Tag.p {
          for outcome in JoinOutcome.allCases {
            Tag.span(.class("key \(style(outcome))")) {
              "\(PageParts.number(total[outcome])) \(JoinText.name(outcome))"
            }
            " "
          }
        }
      }
      let isDrawn = periods.count { $0.tally != JoinTally() } >= ChartSpan.pointsMin
      if isDrawn {
        Tag.div(.class("plot")) {
          Tag.div(.class("scale"), .hiddenFromReaders()) {
            Tag.span { PageParts.number(top) }
            Tag.span { "0" }
          }
          drawing
          Tag.div(.class("axis"), .hiddenFromReaders()) {
            for mark in span.marks(periods.map(\.start)) { Tag.span { mark } }
          }
        }
      }
      Tag.p(.class("meaning")) { "\(contexts(total)) A receipt counts when it was created." }
      Tag.details(.open(!isDrawn)) {
        Tag.summary { "\(span.title) as a table" }
        table
      }
    }
  }

  private func contexts(_ total: JoinTally) -> String {
    guard total.contexts > 0 else { return "The app has posted no contexts in this time." }
    return "\(PageParts.counted(total.unclaimed, "context")) of \(PageParts.number(total.contexts)) "
      + "\(total.unclaimed == 1 ? "was" : "were") claimed by no purchase."
  }

  /// Red only while something is wrong: an app may do without contexts.
  private func style(_ outcome: JoinOutcome) -> String {
    switch outcome {
    case .exact: "good"
    case .user: "fair"
    case .guessed: "guess"
    case .none: broken == nil ? "ended" : "bad"
    case .disputed: "disputed"
    }
  }

  private var drawing: HTML {
    let width = Double(periods.count) * Self.slot
    return Tag.svg(
      Attribute("viewBox", "0 0 \(DrawnNumber.text(width)) \(DrawnNumber.text(Self.height))"),
      Attribute("preserveAspectRatio", "none"), .role("img"), .labelledBy("joins-title joins-desc")
    ) {
      Tag.title(.id("joins-title")) { "Receipts by how they got their context, \(span.step) each" }
      Tag.desc(.id("joins-desc")) {
        "At most \(PageParts.counted(top, "receipt")) in \(span.step). "
          + JoinOutcome.allCases.map { "\(PageParts.number(total[$0])) \(JoinText.name($0))" }
          .joined(separator: ", ") + " in all."
      }
      for share in [0.0, 0.5] { line(share, "grid", width) }
      for (index, period) in periods.enumerated() { bar(period, x: Double(index) * Self.slot + 1) }
      line(1, "base", width)
    }
  }

  /// - Parameter share: of the height, from above.
  private func line(_ share: Double, _ style: String, _ width: Double) -> HTML {
    let y = DrawnNumber.text(Self.height * share)
    return Tag.line(
      .class(style), Attribute("x1", "0"), Attribute("x2", DrawnNumber.text(width)), Attribute("y1", y),
      Attribute("y2", y))
  }

  /// The outcomes of a period above each other, the best at the bottom.
  private func bar(_ period: JoinPeriod, x: Double) -> HTML {
    var base = Self.height
    var parts: [(outcome: JoinOutcome, y: Double, height: Double)] = []
    for outcome in JoinOutcome.allCases where period.tally[outcome] > 0 && top > 0 {
      let height = max(0, Self.height * Double(period.tally[outcome]) / Double(top))
      base -= height
      parts.append((outcome, base, height))
    }
    return HTML {
      for part in parts {
        Tag.rect(
          .class(style(part.outcome)), Attribute("x", DrawnNumber.text(x)),
          Attribute("y", DrawnNumber.text(part.y)),
          Attribute("width", DrawnNumber.text(Self.slot - 2)),
          Attribute("height", DrawnNumber.text(part.height))
        ) {
          Tag.title {
            "\(ChartTime.text(period.start)): \(PageParts.number(period.tally[part.outcome])) "
              + JoinText.name(part.outcome)
          }
        }
      }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Receipts by how they got their context, and contexts",
      [.init("From")] + JoinOutcome.allCases.map { .init(JoinText.name($0), isNumber: true) }
        + [.init("Contexts", isNumber: true), .init("Unclaimed", isNumber: true)])
    table.rows = periods.reversed().filter { $0.tally != JoinTally() }.map { period in
      let tally = period.tally
      return [Tag.time(.datetime(period.start.rfc3339)) { ChartTime.text(period.start) }]
        + (JoinOutcome.allCases.map { tally[$0] } + [tally.contexts, tally.unclaimed])
        .map { HTML(text: PageParts.number($0)) }
    }
    return table.html
  }
}
