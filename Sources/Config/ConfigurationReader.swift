// Builds a Configuration from the file's value and collects every fault. The keys are declared in `Keys`;
// they are read in the order of the manual page, so faults have the same order. Blocks, because it reads the
// files that the configuration names; one thread.

internal import Domain
internal import Formats
internal import Platform

/// What reading a configuration needs besides the file's value.
struct ConfigurationReader {
  let collector: FaultCollector
  let secrets: SecretReader
  /// The configuration file's folder; relative paths are resolved against it.
  let directory: String
  /// The payment processors that the file may name.
  let processors: ProcessorRegistry
  /// The destinations that `deliver_to` may name.
  let destinations: DestinationRegistry
  /// The names under `apps`, faulty or not.
  private(set) var appNames: [String] = []

  /// Uses placeholders for faulty parts: the result is valid only if the collector has no fault.
  func configuration(from value: JSONValue) -> Configuration {
    var context = self
    context.appNames = ObjectReader(value["apps"], path: "apps", collector: FaultCollector()).names
    let section = Configuration.section(processors)
    var configuration = section.initial
    _ = section.read(&configuration, ObjectReader(value, path: "", collector: collector), context)
    warnOfWeakValues(configuration)
    return configuration
  }

  /// A path, resolved against the configuration's folder; nil after a fault.
  func filePath(_ value: JSONValue, path: String) -> String? {
    guard let text = text(value, path: path, mustBe: "the path of a file") else { return nil }
    guard !text.hasSuffix("/") else {
      collector.fault(path, "must be the path of a file, but ends with /; name the file in that folder")
      return nil
    }
    return text.hasPrefix("/") ? text : directory == "/" ? "/\(text)" : "\(directory)/\(text)"
  }

  /// - Parameter isWhole: whether the configuration has the absolute path. Any other value may be the key
  ///   itself, pasted instead of its path, and is not repeated (R7).
  func checkPEM(_ file: String, path: String, isWhole: Bool) {
    // Only the daemon needs the key; a program that loads the configuration without secrets need not read it.
    guard secrets.policy == .required else { return }
    do {
      let bytes = try FileReading.content(of: file, bytesMax: KeyRanges.pemFileBytesMax).bytes
      // RFC 7468 §2; text that is not UTF-8 cannot be PEM.
      if String(validating: bytes, as: UTF8.self)?.contains("-----BEGIN ") != true {
        collector.fault(path, "is not a PEM file (no line begins with -----BEGIN): \(file)")
      }
    } catch {
      let named = isWhole ? file : "the file of this name in \(directory)"
      collector.fault(
        path, "cannot read \(named) (\(error.reason)); create it, or let the service's user read it")
    }
  }
}

// MARK: - Warnings

// Warnings about values that are valid but probably a mistake: each names the key and what to write instead.
// As ConfigurationReader: one thread.

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
    for (index, prefix) in configuration.admin.proxies.enumerated() where Self.isAbsurdlyWide(prefix) {
      collector.fault(
        "admin.proxies[\(index)]",
        "believes the X-Remote-User of nearly everyone; write the address of your proxy, or its network")
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
}
