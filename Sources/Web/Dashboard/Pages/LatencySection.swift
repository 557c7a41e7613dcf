// How long the deliveries to one destination took, on its app's page. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct LatencySection {
  /// The hours that the charts and the figures of a week need.
  static let hours = ChartSpan.week.hours + 1

  let place: AppDestination
  /// The last hour.
  let hour: DeliveryLatencies
  /// By hours since 1970.
  let byHour: [Int64: DeliveryLatencies]
  /// The time of its charts.
  let span: ChartSpan
  let now: Timestamp

  private var id: String { "latency-\(place.destination)" }

  var html: HTML {
    Tag.section(.class("card"), .labelledBy(id)) {
      Tag.h2(.id(id)) {
        "Deliveries to "
        PageParts.untrusted(place.destination)
      }
      table
      Tag.div(.class("charts")) {
        chart("Answers", "answers") { $0.attempts }
        chart("From payment to delivery", "payment") { $0.sincePayment }
      }
      Tag.p { Tag.a(.href(attempts())) { "All attempts" } }
    }
  }

  private func attempts(_ more: (name: String, value: String?)...) -> Link {
    let filter: [(name: String, value: String?)] = [
      ("app", place.app.text), ("destination", place.destination.text),
    ]
    return Link("attempts", query: filter + more)
  }

  private func chart(
    _ title: String, _ name: String, _ counts: (DeliveryLatencies) -> LatencyCounts
  ) -> HTML {
    let first = DeliveryHistory.hour(of: now) - span.hours + 1
    let points = stride(from: first, to: first + span.hours, by: Int(span.hoursEach)).map { start in
      LatencyChart.Point(
        start: DeliveryHistory.start(ofHour: start),
        counts: (start..<start + span.hoursEach).compactMap { byHour[$0].map(counts) }
          .reduce(LatencyCounts(), +))
    }
    return LatencyChart(title: title, span: span, points: points, id: "\(id)-\(name)").html
  }

  private func figures(_ window: LatencyWindow) -> DeliveryLatencies {
    if window == .hour { return hour }
    let first = DeliveryHistory.hour(of: now - window.length)
    return byHour.filter { $0.key >= first }.map(\.value).reduce(DeliveryLatencies(), +)
  }

  private var table: HTML {
    var table = DataTable(
      "How long deliveries took",
      [
        .init("Period"), .init("Attempts", isNumber: true), .init("Accepted", isNumber: true),
        .init("Answer p50", isNumber: true), .init("p99", isNumber: true),
        .init("From payment p50", isNumber: true), .init("From payment p99", isNumber: true),
      ])
    table.rows = LatencyWindow.allCases.map { window in
      let figures = figures(window)
      let share = LatencyText.share(figures.successRate)
      let since = (now - window.length).rfc3339
      return [
        HTML(text: window.text), HTML(text: PageParts.number(figures.attempts.total)),
        figures.failed.total > 0
          ? Tag.a(.href(attempts(("failed", FilterFlag.given), ("since", since)))) { share }
          : HTML(text: share),
      ]
        + [figures.attempts, figures.sincePayment].flatMap { counts in
          [0.5, 0.99].map { HTML(text: LatencyText.time(counts.quantile($0))) }
        }
    }
    return table.html
  }
}
