// Warnings about values that are valid but probably a mistake: each names the key and what to write instead.
// As ConfigurationReader: one thread.

internal import Domain
internal import Formats
internal import Platform

extension ConfigurationReader {
  /// Anyone who reaches the public listener can guess a shorter key.
  private static let clientKeyBytesMin = 16

  func warnOfWeakValues(_ configuration: Configuration) {
    warnOfShortRetention(configuration)
    for (index, prefix) in configuration.listen.proxies.enumerated() where Self.isAbsurdlyWide(prefix) {
      collector.warning(
        "listen.proxies[\(index)]",
        "believes the X-Forwarded-For of nearly everyone, so a client can choose the address that limits "
          + "count it by; write the address of your proxy, or its network")
    }
    for entry in configuration.secrets {
      // An unreadable secret was already reported, where it matters.
      guard let value = try? entry.secret.reveal() else { continue }
      if entry.path.contains(".client.keys["), value.utf8.count < Self.clientKeyBytesMin {
        collector.warning(
          entry.path,
          "has \(value.utf8.count) \(value.utf8.count == 1 ? "byte" : "bytes") and can be guessed; use "
            + "\(Self.clientKeyBytesMin) or more, such as from: openssl rand -hex 24")
      }
    }
  }

  /// No proxy operator owns a range this wide: more than a /8 of IPv4 or a /16 of IPv6, except the private
  /// range fc00::/7.
  private static func isAbsurdlyWide(_ prefix: AddressPrefix) -> Bool {
    guard prefix.isIPv6 else { return prefix.bits < 8 }
    let text = prefix.description.lowercased()
    return prefix.bits < 16 && !(prefix.bits >= 7 && (text.hasPrefix("fc") || text.hasPrefix("fd")))
  }

  /// A context that is deleted before the end of the join window is lost to a later purchase.
  private func warnOfShortRetention(_ configuration: Configuration) {
    for app in configuration.apps
    where configuration.retention.contexts < app.join.window {
      collector.warning(
        "retention.contexts",
        "is shorter than apps.\(app.slug).join.window; contexts go before they can be used")
    }
    guard let processor = processors.longestRepeating else { return }
    let repeats = processor.rules(false).repeatPeriod
    if configuration.retention.receipts < repeats {
      collector.warning(
        "retention.receipts",
        "is shorter than \(DurationText.text(repeats)), for which \(processor.label) can send "
          + "an event again; the ids of deleted purchases are kept until then, so that none makes a second "
          + "receipt")
    }
  }
}
