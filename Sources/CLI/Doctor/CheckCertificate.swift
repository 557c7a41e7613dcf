// `receiptctl doctor`: certificates, and who is notified. One thread.

internal import Config
internal import Cryptography
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Upkeep

/// The certificate of the public listener.
enum CertificateCheck: DoctorCheck {
  static let subject = Finding.Check.certificate
  private static let renew = "Renew it, then: receiptctl reload"
  private static let bytesMax = 1 << 20

  static func findings(_ scene: DoctorScene) -> [Finding] {
    guard let tls = scene.configuration.listen.tls else { return [] }
    let (pem, key): ([UInt8], [UInt8])
    do throws(SystemError) {
      pem = try FileReading.content(of: tls.certificatePath, bytesMax: bytesMax).bytes
      key = try FileReading.content(of: tls.keyPath, bytesMax: bytesMax).bytes
    } catch {
      return [
        failure(
          "cannot read \(tls.certificatePath) or \(tls.keyPath) (\(error.reason))",
          next: "Let receiptd's user read both, then: receiptctl reload")
      ]
    }
    guard let certificate = try? Certificate(pem: pem) else {
      return [failure("\(tls.certificatePath) has no certificate in PEM", next: renew)]
    }
    guard certificate.matches(privateKey: key) else {
      return [failure("\(tls.keyPath) is not the key of \(tls.certificatePath)", next: renew)]
    }
    let age = CertificateAge(expiresAt: certificate.expiresAt, now: scene.now)
    switch age.level {
    case .failure: return [failure("of the public listener \(age.text)", next: renew)]
    case .warning: return [warning("of the public listener \(age.text)", next: renew)]
    case .ok: break
    }
    let hosts = Set(scene.apps.compactMap(\.links).map(\.origin.host))
    let others = hosts.filter { !certificate.isFor(host: $0) }.sorted()
    guard let other = others.first else { return [ok("of the public listener \(age.text)")] }
    return [
      warning(
        "of the public listener is not for \(other), the origin of an app",
        next: "Unless a proxy has its own certificate, add the name. Then: receiptctl reload")
    ]
  }
}

/// How long a certificate is still valid.
struct CertificateAge {
  // Earlier than the alert (14 days by default): doctor is run rarely, and looks ahead.
  private static let (failing, warning): (Duration, Duration) = (.days(3), .days(21))

  let level: Finding.Level
  /// `expires in 61 d`
  let text: String

  /// - Parameter expiresAt: Unix milliseconds.
  init(expiresAt: Int64, now: Timestamp) {
    let left = Timestamp(unixMilliseconds: expiresAt).duration(since: now)
    level = left < Self.failing ? .failure : left < Self.warning ? .warning : .ok
    text = left < .zero ? "expired \((.zero - left).span) ago" : "expires in \(left.span)"
  }
}

/// Whether somebody learns of trouble.
enum AlertsCheck: DoctorCheck {
  static let subject = Finding.Check.alerts

  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    let configuration = scene.configuration
    var findings: [Finding] = []
    if configuration.alerts.isEmpty {
      findings.append(
        warning(
          "none are configured, so nobody is notified of trouble",
          next: "Add alerts to the configuration (docs/alerts.md), then: receiptctl alerts test"))
    }
    if configuration.heartbeat == nil {
      findings.append(
        warning(
          "no heartbeat is configured, so nobody learns that this machine is down",
          next: "Add heartbeat to the configuration (docs/alerts.md), then: receiptctl reload"))
    }
    for (index, alert) in configuration.alerts.enumerated() {
      let label = "alerts[\(index)]"
      guard let digest = (try? AlertTarget(alert, label: label))?.digest,
        let receiver = scene.health?.report?.receivers[digest], receiver.isFailing,
        let failedAt = receiver.failedAt
      else { continue }
      findings.append(
        failure(
          "notices do not reach \(label): the last attempt failed \(failedAt.past(to: scene.now)) "
            + "(\(receiver.failure ?? ""))", next: "receiptctl alerts test"))
    }
    guard findings.isEmpty else { return findings }
    let firing = try scene.reader?.alerts().count { $0.isFiring } ?? 0
    let count = "\(configuration.alerts.count) \(configuration.alerts.count == 1 ? "address" : "addresses")"
    guard firing > 0 else { return [ok("\(count), nothing fires")] }
    return [
      warning(
        "\(CountText.of(firing, "alert")) \(firing == 1 ? "fires" : "fire")", next: "receiptctl status")
    ]
  }
}
