// `receiptctl doctor`: whether a payment processor sends its events here. One thread.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Reports
internal import Service
internal import Store

/// Whether the processor sends the right events to this relay.
enum WebhooksCheck: DoctorCheck {
  static let subject = Finding.Check.webhooks
  /// Far more than an account may have; a list without an end ends here.
  private static let registrationsMax = 1000

  /// Without a list of registered addresses, only the events show that they come.
  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    guard let reader = scene.reader else { return [] }
    // What is wrong with the webhooks of an app is a finding already.
    let well = scene.apps.filter { app in
      !scene.findings.contains { $0.check == subject && $0.level != .ok && $0.app == app.slug }
    }
    let withEvents = try well.flatMap { app in
      let listing = Set(try ProcessorAPI.of(app).filter { $0.registry != nil }.map(\.processorName))
      return try app.processors.filter { $0.section.kind.hasWebhooks && !listing.contains($0.name) }.map {
        let last = try reader.lastEvent(app: app.slug)
        let place = "\($0.name) of \(app.slug)"
        if let last { return ok("\(place): the last event of the app came \(last.past(to: scene.now))") }
        return warning(
          "\(place): no event of the app came yet, and where the processor sends them cannot be asked",
          next: "After a payment look again: receiptctl events list --app \(app.slug)")
      }
    }
    return withEvents
      + scene.apps.filter(\.processors.isEmpty).map {
        ok("\($0.slug): no payment processor is configured, so only purchases in app stores are taken")
      }
  }

  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe] {
    try scene.apps.flatMap { app in
      try ProcessorAPI.of(app).compactMap { api in
        api.registry.map { probe(Question(scene: scene, app: app, api: api, registry: $0), [], after: nil) }
      }
    }
  }

  private struct Question {
    let scene: DoctorScene
    let app: AppConfiguration
    let api: ProcessorAPI
    let registry: any WebhookRegistry

    var place: String { "\(api.processorName) of \(app.slug)" }
    var path: String { "/v1/\(app.slug)/webhooks/\(api.processorName)" }
    /// Where events must go, as far as the configuration knows it.
    var url: String { "\(app.links?.origin.text ?? "https://HOST")\(path)" }
  }

  /// Asks for one page, and then for the next.
  private static func probe(
    _ question: Question, _ known: [WebhookRegistration], after cursor: String?
  ) -> DoctorProbe {
    let api = question.api
    let request = api.request(question.registry.page(after: cursor)).within(DoctorProbe.timeout)
    return DoctorProbe(request) { result in
      guard case .body(let body) = api.judge(result, now: question.scene.now) else {
        return .findings([unknown(question, result)])
      }
      guard let page = question.registry.read(body) else {
        return .findings([unknown(question, result)])
      }
      let all = known + page.registrations
      if let next = page.next, all.count < registrationsMax {
        return .next(probe(question, all, after: next))
      }
      return .findings(judge(all, question))
    }
  }

  /// The key may be right for all else, so this is no failure; the processor check says if it is not.
  private static func unknown(_ question: Question, _ result: TransferResult) -> Finding {
    let cause = result.status.map { "http_\($0)" } ?? result.failureText ?? ""
    let again = again(question.app.slug)
    guard result.status == 401 || result.status == 403 else {
      return warning("\(question.place): the webhook endpoints are not known (\(cause))", next: again)
    }
    return warning(
      "\(question.place): the key may not list webhook endpoints (\(cause))",
      next: "Let it read webhook endpoints too, then: \(again)")
  }

  private static func judge(_ all: [WebhookRegistration], _ question: Question) -> [Finding] {
    let own = all.filter { $0.path == question.path }
    let needed = question.registry.neededTypes
    let again = "then look again: \(again(question.app.slug))"
    guard !own.isEmpty else {
      return [
        failure(
          "\(question.place): no endpoint is registered for \(question.path)",
          next: "Register \(question.url) for \(needed.joined(separator: ", ")); \(again)")
      ]
    }
    let enabled = own.filter(\.isEnabled)
    guard let first = enabled.first else {
      return [
        failure("\(question.place): the endpoint is disabled", next: "Enable it at the processor, \(again)")
      ]
    }
    let missing = needed.filter { type in !enabled.contains { $0.has(type) } }
    guard missing.isEmpty else {
      return [
        failure(
          "\(question.place): the endpoint lacks \(missing.joined(separator: ", "))",
          next: "Add \(missing.count == 1 ? "it" : "them") at the processor, \(again)")
      ]
    }
    if enabled.count > 1 {
      return [
        warning(
          "\(question.place): \(enabled.count) endpoints have this path, so each event comes several times",
          next: "Keep one at the processor, \(again)")
      ]
    }
    if let host = question.app.links?.origin.host, let other = first.host, other != host {
      return [
        warning(
          "\(question.place): events go to \(other), and the app's origin is \(host)",
          next: "If that is wrong, correct it at the processor, \(again)")
      ]
    }
    return [
      ok("\(question.place): one endpoint, all \(needed.count) types of events", of: question.app.slug)
    ]
  }
}

extension WebhookRegistration {
  private var link: LinkURL? { try? LinkURL(url) }
  /// Empty if it is no URL.
  fileprivate var path: String { link?.path ?? "" }
  fileprivate var host: String? { link?.host }
}
