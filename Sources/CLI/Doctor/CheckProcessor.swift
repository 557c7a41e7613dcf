// `receiptctl doctor`: whether a payment processor accepts the key. One thread.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Reports
internal import Service
internal import Store

/// Whether each processor accepts the app's credentials.
enum ProcessorCheck: DoctorCheck {
  static let subject = Finding.Check.processor

  /// A processor without a harmless request is judged by what happened in the last hour.
  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    try scene.apps.flatMap { app in
      try ProcessorAPI.of(app).filter { $0.probe == nil }.compactMap { api -> Finding? in
        guard let report = scene.health?.report, report.processorTroubles[api.place] == nil else {
          return nil
        }
        return ok("\(api.processorName) of \(app.slug): no call failed in the last hour")
      }
    }
  }

  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe] {
    try scene.apps.flatMap { app in
      try ProcessorAPI.of(app).compactMap { api in
        api.probe.map { request in
          DoctorProbe(request.within(DoctorProbe.timeout)) { result in
            .findings([finding(api.judge(result, now: scene.now), result, app, api)])
          }
        }
      }
    }
  }

  private static func finding(
    _ answer: QueryAnswer, _ result: TransferResult, _ app: AppConfiguration, _ api: ProcessorAPI
  ) -> Finding {
    let place = "\(api.processorName) of \(app.slug)"
    switch answer {
    case .body: return ok("\(place) accepts the key (\(result.answerText))")
    case .limited: return warning("\(place) limits the rate of requests", next: again(app.slug))
    case .notFound:
      return failure("\(place) does not know the path of its API", next: correction(app, api))
    case .refused(let cause):
      return failure("\(place) refuses the key (\(cause))", next: correction(app, api))
    case .failed(let cause, _):
      return failure(
        "\(place) does not answer (\(result.failureText ?? cause))",
        next: "See that this machine reaches it, then: \(again(app.slug))")
    }
  }

  private static func correction(_ app: AppConfiguration, _ api: ProcessorAPI) -> String {
    app.processorAdvice[api.processorName]?.correction(of: app.slug) ?? again(app.slug)
  }
}
