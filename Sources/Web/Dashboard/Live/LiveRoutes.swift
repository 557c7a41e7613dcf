// The documents of the frames: numbers that stay current. libmicrohttpd's threads.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Service
internal import Store

extension Dashboard {
  /// The label `route` of the frames: they reload often, and must not improve the latencies of the pages.
  public static let liveLabel = "dashboard_live"
  /// Between two reloads of the numbers of all apps.
  static let liveSeconds = 10
  /// The same of a job, which people watch.
  static let liveJobSeconds = 2

  var liveRoutes: [Route] {
    [
      live("/live/state") { dashboard, _ throws(Refusal) in
        let figures = try dashboard.figures()
        return LiveDocument(
          seconds: Self.liveSeconds, content: figures.strip(dashboard.health.report(now: dashboard.now)))
      },
      live("/live/numbers") { dashboard, _ throws(Refusal) in
        LiveDocument(seconds: Self.liveSeconds, content: try dashboard.figures().numbers)
      },
      live("/live/jobs/{job}") { dashboard, visit throws(Refusal) in
        let id = JobID(visit["job"] ?? "")
        let job = try dashboard.read { source throws(StoreFault) in try source.reader.job(id: id) }
        guard let job else { throw .problem(.unknownJob) }
        return LiveDocument(
          seconds: job.endedAt == nil ? Self.liveJobSeconds : nil, content: JobProgress(job: job).html)
      },
    ]
  }

  func figures() throws(Refusal) -> LiveFigures {
    let now = now
    return try read { source throws(StoreFault) in try source.figures(now: now) }
  }

  private func live(
    _ path: String, _ make: @escaping @Sendable (Dashboard, Visit) throws(Refusal) -> LiveDocument
  ) -> Route {
    Route(Route.reading, path, label: Self.liveLabel) { visit throws(Problem) in
      try Self.checkIDs(of: visit)
      return { _, exchange in
        do throws(Refusal) {
          exchange.answer(try make(serving(visit), visit).response())
        } catch {
          // Only the store's faults pass. The page around it goes on, so it says when it tries again.
          let status = response(to: error, exchange.scope).status
          let document = LiveDocument(
            seconds: status == 404 ? nil : Self.liveSeconds,
            content: Tag.p { status == 404 ? "It was deleted." : "The numbers cannot be read now." })
          exchange.answer(document.response(status: status))
        }
      }
    }
  }
}
