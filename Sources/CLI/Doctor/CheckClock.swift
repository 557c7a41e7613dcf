// `receiptctl doctor`: whether the clock is right. One thread.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Platform
internal import Reports
internal import Service

/// Signatures of webhooks have a time, and waits and retention count on it.
enum ClockCheck: DoctorCheck {
  static let subject = Finding.Check.clock
  private static let next = "timedatectl set-ntp true"
  /// HTTP dates are whole seconds, and an answer takes a moment.
  private static let differenceMax: Duration = .seconds(5)

  static func findings(_ scene: DoctorScene) -> [Finding] {
    guard let clock = scene.session.dependencies.clockDiscipline() else {
      return [ok("the system does not say here whether the clock is synchronised")]
    }
    guard clock.isSynchronised else {
      return [warning("nothing synchronises the clock of this machine", next: next)]
    }
    return [ok("synchronised, at most \(clock.errorMax.milliseconds) ms off")]
  }

  /// Compares with a payment processor's clock, which is taken to be right.
  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe] {
    for app in scene.apps {
      // The processor check reports a key that cannot be read.
      guard let api = (try? ProcessorAPI.of(app))?.first(where: { $0.probe != nil }), let probe = api.probe
      else { continue }
      let clock = scene.session.dependencies.clock
      let label = app.label(of: api.processorName) ?? api.processorName.text
      return [
        DoctorProbe(probe.within(DoctorProbe.timeout)) { result in
          let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
          return .findings(findings(result, now: now, from: label, ageMax: api.signatureAgeMax))
        }
      ]
    }
    return []
  }

  /// - Parameter ageMax: how old a signature may be; nil if signatures have no time.
  private static func findings(
    _ result: TransferResult, now: Timestamp, from label: String, ageMax: Duration?
  ) -> [Finding] {
    guard let date = result.header("Date").flatMap({ HTTPDate.timestamp($0, now: now) }) else { return [] }
    let ahead = now.duration(since: date)
    let difference = abs(ahead.milliseconds)
    let words =
      "\(Duration.milliseconds(difference).span) \(ahead > .zero ? "ahead of" : "behind") \(label)'s"
    if let ageMax, difference > ageMax.milliseconds {
      return [failure("the clock is \(words), so its webhooks are refused", next: next)]
    }
    return difference > differenceMax.milliseconds ? [warning("the clock is \(words)", next: next)] : []
  }
}
