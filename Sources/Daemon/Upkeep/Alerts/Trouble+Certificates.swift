// The troubles of certificates and of the clock. Pure, except for the reading of a certificate's file; called
// from any thread.

internal import Config
internal import Cryptography
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service

/// Reads the certificate of the public listener.
enum ListenerCertificate {
  /// When the certificate in a PEM file expires; nil if it cannot be read.
  static func expiry(_ path: String) -> Timestamp? {
    guard let content = try? FileReading.content(of: path, bytesMax: ConfigurationLimits.pemFileBytesMax),
      let certificate = try? Certificate(pem: content.bytes)
    else { return nil }
    return Timestamp(unixMilliseconds: certificate.expiresAt)
  }
}

extension Trouble {
  /// - Parameters:
  ///   - expiresAt: of the certificate that the listener uses; nil if it has none.
  ///   - file: when the certificate in its file expires.
  /// - Returns: nil if it expires later than the limit says.
  static func listenerCertificate(
    _ expiresAt: Timestamp?, file: Timestamp?, limit: Duration, now: Timestamp
  ) -> Trouble? {
    guard let expiresAt, expiresAt.duration(since: now) < limit else { return nil }
    let restart = "systemctl restart receiptd"
    let isRenewed = file.map { $0 > expiresAt } ?? false
    return Trouble(
      key: Key(condition: .certificateExpires(within: limit), app: nil), since: expiresAt - limit,
      value: expiresAt.duration(since: now).inSeconds,
      summary: "the certificate of the public listener \(ends(expiresAt, now))",
      advice: isRenewed
        ? "The file of listen.tls.certificate has a newer one, which is used after: \(restart)"
        : "Renew the certificate in the file of listen.tls.certificate, then run: \(restart)",
      commands: [restart])
  }

  /// - Parameter certificates: those of all places.
  /// - Returns: nil if those of all destinations of the app expire later than the limit says.
  static func certificates(
    _ certificates: [KnownCertificates.Place: Timestamp], limit: Duration, app: AppSlug, now: Timestamp
  ) -> Trouble? {
    let own = certificates.compactMap { place, expiresAt -> (name: String, expiresAt: Timestamp)? in
      guard case .destination(let destination) = place, destination.app == app,
        expiresAt.duration(since: now) < limit
      else { return nil }
      return (destination.destination.text, expiresAt)
    }.sorted { ($0.expiresAt, $0.name) < ($1.expiresAt, $1.name) }
    guard let first = own.first else { return nil }
    return Trouble(
      key: Key(condition: .certificateExpires(within: limit), app: app), since: first.expiresAt - limit,
      value: first.expiresAt.duration(since: now).inSeconds,
      summary: own.map {
        "the certificate of \($0.name), a destination of \(app), \(ends($0.expiresAt, now))"
      }
      .joined(separator: "; "),
      advice:
        "Have it renewed by those who run that server. Until then nothing is lost: when it has expired, "
        + "receipts wait. To watch: receiptctl stats",
      commands: ["receiptctl stats"])
  }

  private static func ends(_ expiresAt: Timestamp, _ now: Timestamp) -> String {
    expiresAt > now
      ? "expires in \(words(seconds: seconds(from: now, to: expiresAt)))"
      : "expired \(words(seconds: seconds(from: expiresAt, to: now))) ago"
  }

  /// - Parameter ahead: negative if the clock is slow.
  /// - Returns: nil if it is right enough.
  static func clock(ahead: Duration, limit: Duration, now: Timestamp) -> Trouble? {
    guard abs(ahead.inSeconds) > limit.inSeconds else { return nil }
    let command = "timedatectl set-ntp true"
    return Trouble(
      key: Key(condition: .clock(over: limit), app: nil), since: now, value: ahead.inSeconds,
      summary: "this machine's clock is \(words(seconds: abs(ahead.inSeconds))) "
        + "\(ahead > .zero ? "ahead of" : "behind") those of the destinations",
      advice: "Set it by NTP: \(command). Webhooks are refused when the clock differs by more than their "
        + "signatures may be old",
      commands: [command])
  }
}
