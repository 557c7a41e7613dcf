// The pages about attempts to deliver, and how long they took.

internal import Domain
internal import HTTPServer
internal import Reports
internal import Store

extension Dashboard {
  func attempts(_ head: RequestHead) throws(Refusal) -> DashboardPage {
    let search: ListSearch<AttemptFilter> = try search("attempts", head)
    var filter = search.filter
    filter.after = try row(search.after)
    let wanted = filter
    let (page, total, known) = try read { source throws(StoreFault) in
      (
        try source.reader.attempts(wanted, limit: AttemptsPage.pageSize), try source.reader.total(wanted),
        Array(try source.reader.countsByProcessor().keys)
      )
    }
    return AttemptsPage(search: search, form: form(search, known: known), page: page, total: total, now: now)
      .html
  }

  /// How long the deliveries of an app took, by destination.
  static func latencies(
    of app: AppSlug, _ reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [LatencySection] {
    var sections: [LatencySection] = []
    for place in try reader.latencyPlaces() where place.app == app {
      sections.append(
        LatencySection(
          place: place, hour: try reader.latencies(place, .hour, now: now),
          byHour: try reader.latenciesByHour(place, last: LatencySection.hours, now: now), now: now))
    }
    return sections
  }
}
