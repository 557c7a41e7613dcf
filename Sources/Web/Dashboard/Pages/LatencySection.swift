// How long the deliveries to one destination took, on its app's page. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct LatencySection {
  /// The hours that the charts and the figures of a week need.
  static let hours: Int64 = 7 * 24 + 1

  let place: AppDestination
  /// The last hour.
  let hour: DeliveryLatencies
  /// By hours since 1970.
  let byHour: [Int64: DeliveryLatencies]
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
        charts("Answers", "answers") { $0.attempts }
        charts("From payment to delivery", "payment") { $0.sincePayment }
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

  private func charts(
    _ title: String, _ name: String, _ counts: (DeliveryLatencies) -> LatencyCounts
  ) -> HTML {
    HTML {
      LatencyChart(
        title: "\(title), last 24 hours", step: "1 h", points: points(24, each: 1, counts),
        id: "\(id)-\(name)-day"
      ).html
      LatencyChart(
        title: "\(title), last 7 days", step: "6 h", points: points(7 * 24, each: 6, counts),
        id: "\(id)-\(name)-week"
      ).html
    }
  }

  private func points(
    _ hours: Int64, each: Int64, _ counts: (DeliveryLatencies) -> LatencyCounts
  ) -> [LatencyChart.Point] {
    let first = DeliveryHistory.hour(of: now) - hours + 1
    return stride(from: first, to: first + hours, by: Int(each)).map { start in
      LatencyChart.Point(
        start: DeliveryHistory.start(ofHour: start),
        counts: (start..<start + each).compactMap { byHour[$0].map(counts) }.reduce(LatencyCounts(), +))
    }
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
