// `receiptctl doctor`: the way to this relay, and from it to its destinations. One thread.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Reports
internal import Service
internal import Store

/// Whether the public address leads to this receiptd.
enum AddressCheck: DoctorCheck {
  static let subject = Finding.Check.address

  static func probes(_ scene: DoctorScene) -> [DoctorProbe] {
    scene.apps.flatMap { app in
      app.publicOrigins.map { origin in
        // A context that does not exist: receiptd's own answer, which no other server gives.
        let url = "\(origin)/v1/\(app.slug)/contexts/ctx_doctor"
        return DoctorProbe(DoctorScene.request(url)) { result in
          .findings(findings(result, url: url, origin: origin.text, app: app.slug, now: scene.now))
        }
      }
    }
  }

  private static func findings(
    _ result: TransferResult, url: String, origin: String, app: AppSlug, now: Timestamp
  ) -> [Finding] {
    let look = "curl -sv \(url)"
    guard let status = result.status else {
      return [failure("\(origin) does not answer (\(result.failureText ?? ""))", next: look)]
    }
    // Anything but receiptd's own form of errors is another server's answer.
    let problem = (try? JSONValue(parsing: result.body))?["type"]?.stringValue
    guard let problem, problem.hasPrefix("urn:receiptd:problem:") else {
      let place = result.header("Location").map { ", to \($0)" } ?? ""
      return [failure("another server than receiptd answers at \(origin) (\(status)\(place))", next: look)]
    }
    if problem.hasSuffix(":unknown-app") {
      return [failure("the receiptd at \(origin) does not have the app \(app)", next: "receiptctl reload")]
    }
    return expiry(result, of: origin, now, next: "Renew it, then look again: \(again(app))")
      ?? [ok("\(origin) leads to receiptd (\(result.answerText))\(certificate(result, now))")]
  }
}

/// Whether each app's destinations can be reached. A request without credentials changes nothing there.
enum DestinationCheck: DoctorCheck {
  static let subject = Finding.Check.destination
  /// How long an answer to receiptd shows that the destination can be reached.
  private static let contactGood: Duration = .hours(1)

  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe] {
    // The database check reports what cannot be read.
    let breakers = (try? scene.reader?.breakers()) ?? [:]
    return try scene.apps.flatMap { app in
      try app.destinationKinds.compactMap { kind -> DoctorProbe? in
        guard let destination = try kind.make(app, revealsSecrets: false, userAgent: "") else { return nil }
        let place = "\(kind.name) of \(app.slug)"
        let contact = scene.health?.report?.destinations[AppDestination(app.slug, kind.name)]
        let refusal = breakers[AppDestination(app.slug, kind.name)].flatMap { breaker in
          breaker.state != .paused
            ? nil
            : BreakerText(breaker, app: app.slug.text, now: scene.now, advice: kind.advice(app)).map {
              failure("\(place) answers, but refuses receipts\(breaker.causeText)", next: $0.advice)
            }
        }
        let request = DoctorScene.request(destination.url).with(destination.certificates)
        return DoctorProbe(request) { result in
          let found = findings(result, place, app.slug, contact, scene.now)
          // Answering this request, which has no credentials, is no sign that it accepts receipts.
          return .findings(found.map { $0.level == .ok ? refusal ?? $0 : $0 })
        }
      }
    }
  }

  private static func findings(
    _ result: TransferResult, _ place: String, _ app: AppSlug, _ contact: DestinationContact?,
    _ now: Timestamp
  ) -> [Finding] {
    // receiptd's own view decides: this command may have another environment, such as another proxy.
    if let contact, !contact.isAnswered {
      let own = result.status == nil ? "" : ", although this command does (\(result.answerText))"
      return [
        failure(
          "receiptd did not reach \(place) \(contact.at.past(to: now)) (\(contact.outcome))\(own)",
          next: "See receiptd's network, its proxy and https_proxy and no_proxy in its environment, then: "
            + "receiptctl apps retry-now \(app)")
      ]
    }
    if let contact, result.status == nil, now.duration(since: contact.at) < Self.contactGood {
      let route = contact.route.map { " from \($0)" } ?? ""
      return [
        ok(
          "\(place) answered receiptd \(contact.at.past(to: now)) (\(contact.outcome)\(route)); this command "
            + "does not reach it (\(result.failureText ?? ""))")
      ]
    }
    guard result.status != nil else {
      return [
        failure(
          "\(place) cannot be reached (\(result.failureText ?? ""))",
          next: "See that this machine reaches it, then: \(again(app))")
      ]
    }
    return expiry(result, of: place, now, next: "Its owner has to renew it. To look again: \(again(app))")
      ?? [ok("\(place) answers (\(result.answerText))\(certificate(result, now))")]
  }
}

extension DoctorCheck {
  /// The finding about a server's certificate; nil if it is good for a while, or unknown.
  static func expiry(
    _ result: TransferResult, of place: String, _ now: Timestamp, next: String
  ) -> [Finding]? {
    guard let expiresAt = result.certificateExpiresAt else { return nil }
    let age = CertificateAge(expiresAt: expiresAt, now: now)
    let text = "the certificate of \(place) \(age.text)"
    return age.level == .ok ? nil : [Finding(line: age.level, subject, text, next: next)]
  }

  /// `, certificate expires in 61 d`
  static func certificate(_ result: TransferResult, _ now: Timestamp) -> String {
    result.certificateExpiresAt.map { ", certificate \(CertificateAge(expiresAt: $0, now: now).text)" } ?? ""
  }
}
