// Asks now and then for the association files of the configured hosts, and for Apple's and Google's copies of
// them. Nothing is asked without `links`, and one question at a time. The alerter's thread.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Platform
internal import Service

/// The association files that are not as configured.
struct AssociationWatch {
  /// Between two questions to one place.
  static let interval: Duration = .hours(1)
  /// The same while its file is different: it must be different twice.
  static let faultInterval: Duration = .minutes(5)
  /// The relay's own address may lead to it only after its start.
  static let startPause: Duration = .minutes(1)
  private static let timeout: Duration = .seconds(10)

  private struct Place {
    let probe: AssociationProbe
    var dueAt: MonotonicInstant
    /// Whether the host has answered this process, so that it can be reached from here.
    var hasAnswered = false
    var fault: BrokenAssociation?
  }

  private var places: [Place] = []
  /// The place that is being asked.
  private var asked: Int?

  var faults: [BrokenAssociation] { places.compactMap(\.fault) }
  /// When the next question is due; nil if there is none, or while one is under way.
  var nextAt: MonotonicInstant? { asked == nil ? places.map(\.dueAt).min() : nil }

  /// Follows the configuration. A file that did not change keeps what is known of it.
  /// - Parameter earlier: what was found before the start, or by another instance.
  mutating func use(
    _ apps: [AppConfiguration], earlier: [BrokenAssociation] = [], now: MonotonicInstant
  ) {
    asked = nil
    let known = places
    places = AssociationFiles.all(of: apps).flatMap(AssociationProbe.all(of:)).map { probe in
      var place =
        known.first { $0.probe == probe }
        ?? Place(probe: probe, dueAt: now.advanced(by: Self.startPause))
      if place.fault == nil, var fault = earlier.first(where: { $0.url == probe.url }) {
        fault.apps = probe.files.slugs
        place.fault = fault
      }
      return place
    }
  }

  /// The request that is due now; nil if none is.
  mutating func next(now: MonotonicInstant) -> TransferRequest? {
    guard asked == nil, let index = places.firstIndex(where: { $0.dueAt <= now }) else { return nil }
    asked = index
    return places[index].probe.request(userAgent: Version.userAgent, timeout: Self.timeout)
  }

  /// Forgets the question under way, which is asked again.
  mutating func cancel() { asked = nil }

  mutating func finish(_ result: TransferResult, now: Timestamp, monotonic: MonotonicInstant) {
    guard let index = asked else { return }
    asked = nil
    let place = places[index]
    let verdict = place.probe.judge(result)
    places[index].hasAnswered = place.hasAnswered || result.status != nil
    switch verdict {
    case .current: places[index].fault = nil
    case .unanswered where !Self.isFault(result, of: place): break
    case .faulty, .unanswered:
      places[index].fault = BrokenAssociation(
        place.probe, verdict.faults, since: place.fault?.since ?? now, seenAt: now)
    }
    places[index].dueAt = monotonic.advanced(
      by: places[index].fault == nil ? Self.interval : Self.faultInterval)
  }

  /// Whether a place without an answer is a fault. A company may be out of reach from here, and so may the
  /// relay's own public address be, which a proxy or a router keeps from its own network.
  private static func isFault(_ result: TransferResult, of place: Place) -> Bool {
    guard place.probe.company == nil else { return false }
    return place.hasAnswered || place.fault != nil || result.failure == .certificateRejected
  }
}
