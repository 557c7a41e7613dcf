// Builds a Configuration from the file's value and collects every fault. Reads keys in the order of the
// manual page, so faults have the same order. Blocks, because it reads the files that the configuration
// names; one thread.

internal import Domain
internal import JSON
internal import Platform

struct ConfigurationReader {
  let collector: FaultCollector
  let secrets: SecretReader
  /// The configuration file's folder; relative paths are resolved against it.
  let directory: String
  /// The payment processors that the file may name.
  let processors: ProcessorRegistry
  /// The destinations that it may name.
  let destinations: DestinationRegistry

  /// Uses placeholders for faulty parts: the result is valid only if the collector has no fault.
  func configuration(from value: JSONValue) -> Configuration {
    let root = ObjectReader(value, path: "", collector: collector)
    let listen = listen(root.object("listen"))
    let admin = admin(root.object("admin"))
    reportSharedPort(listen, admin)
    let databasePath = databasePath(root)
    if databasePath != nil, root.value("database")?.stringValue?.hasPrefix("/") == false {
      collector.warning(
        "database",
        "is relative to the folder of this file and moves with it; write the whole path, such as "
          + "\"/var/lib/receiptd/receiptd.db\"")
    }
    var configuration = Configuration(
      listen: listen, admin: admin, databasePath: databasePath ?? "", log: log(root.object("log")),
      limits: limits(root.object("limits")), retention: retention(root.object("retention")), apps: [])
    let names = ObjectReader(root.value("apps"), path: "apps", collector: FaultCollector()).names
    configuration.alerts = alerts(in: root, apps: names)
    configuration.heartbeat = heartbeat(in: root)
    configuration.registry = processors
    configuration.apps = apps(in: root).sorted { $0.slug < $1.slug }
    for fault in AssociationFiles.faults(of: configuration.apps) {
      collector.fault(fault.path, fault.message)
    }
    root.reportUnknownKeys()
    warnOfWeakValues(configuration)
    return configuration
  }

  /// Nil after a fault.
  func databasePath(_ root: ObjectReader) -> String? {
    filePath(
      root.required(
        "database", "write the path of the database's file, such as \"/var/lib/receiptd/receiptd.db\""),
      path: "database", in: root)
  }

  private func listen(_ reader: ObjectReader) -> Configuration.Listen {
    let defaults = Configuration.Listen()
    defer { reader.reportUnknownKeys() }
    return Configuration.Listen(
      address: address(reader, default: defaults.address), port: port(reader, default: defaults.port),
      tls: reader.value("tls").flatMap {
        tls(ObjectReader($0, path: reader.path(of: "tls"), collector: collector))
      },
      proxies: proxies(reader, default: defaults.proxies))
  }

  private func proxies(_ reader: ObjectReader, default fallback: [AddressPrefix]) -> [AddressPrefix] {
    let path = reader.path(of: "proxies")
    let range = ConfigurationLimits.proxies
    guard let entries = reader.list(reader.value("proxies"), path: path, count: range, of: "addresses")
    else { return fallback }
    return entries.compactMap { value, path in
      let prefix = value.stringValue.flatMap(AddressPrefix.init)
      if prefix == nil {
        collector.fault(path, "must be a numeric address or a network, such as \"10.0.0.0/8\"")
      }
      return prefix
    }
  }

  func address(_ reader: ObjectReader, default fallback: String) -> String {
    let path = reader.path(of: "address")
    let expected = "a numeric address, such as \"127.0.0.1\", \"0.0.0.0\" or \"::1\""
    guard let text = reader.text(reader.value("address"), path: path, mustBe: expected) else {
      return fallback
    }
    if IPAddress(text) == nil { collector.fault(path, "must be \(expected); names are not looked up") }
    return text
  }

  func port(_ reader: ObjectReader, default fallback: UInt16) -> UInt16 {
    UInt16(clamping: reader.integer("port", default: Int(fallback), in: ConfigurationLimits.ports))
  }

  /// Two listeners on one port: the second bind would fail at the start, long after `--check` passed. A
  /// wildcard occupies the port on every address of its family (ip(7), EADDRINUSE).
  private func reportSharedPort(_ listen: Configuration.Listen, _ admin: Configuration.Admin) {
    guard admin.socketPath == nil, listen.port == admin.port, listen.port != 0,
      let first = IPAddress(listen.address),
      let second = IPAddress(admin.address), first.isIPv6 == second.isIPv6,
      first == second || first.isWildcard || second.isWildcard
    else { return }
    collector.fault(
      "admin.port", "is the port of listen, on the same address; give admin another one, such as 8081")
  }

  private func tls(_ reader: ObjectReader) -> Configuration.TLS? {
    defer { reader.reportUnknownKeys() }
    let advice = "TLS needs both certificate and key, as paths of PEM files"
    let paths = ["certificate", "key"].map { key in
      let path = reader.path(of: key)
      let value = reader.required(key, advice)
      let file = filePath(value, path: path, in: reader)
      if let file { checkPEM(file, path: path, isWhole: file == value?.stringValue) }
      return file
    }
    guard let certificate = paths[0], let key = paths[1] else { return nil }
    return Configuration.TLS(certificatePath: certificate, keyPath: key)
  }

  /// - Parameter isWhole: whether the configuration has the absolute path. Any other value may be the key
  ///   itself, pasted instead of its path, and is not repeated (R7).
  private func checkPEM(_ file: String, path: String, isWhole: Bool) {
    // Only the daemon needs the key; a program that loads the configuration without secrets need not read it.
    guard secrets.policy == .required else { return }
    do {
      let bytes = try FileReading.content(of: file, bytesMax: ConfigurationLimits.pemFileBytesMax).bytes
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

  /// A path, resolved against the configuration's folder; nil after a fault or when the key is missing.
  func filePath(_ value: JSONValue?, path: String, in reader: ObjectReader) -> String? {
    guard let text = reader.text(value, path: path, mustBe: "the path of a file") else { return nil }
    guard !text.hasSuffix("/") else {
      collector.fault(path, "must be the path of a file, but ends with /; name the file in that folder")
      return nil
    }
    return text.hasPrefix("/") ? text : directory == "/" ? "/\(text)" : "\(directory)/\(text)"
  }

  private func log(_ reader: ObjectReader) -> Configuration.LogSettings {
    let defaults = Configuration.LogSettings()
    defer { reader.reportUnknownKeys() }
    return Configuration.LogSettings(
      level: reader.choice("level", default: defaults.level),
      format: reader.choice("format", default: defaults.format),
      personal: reader.flag("personal", default: defaults.personal))
  }

  /// Nil means no limit.
  func rate(_ reader: ObjectReader, _ key: String, default fallback: RateLimit?) -> RateLimit? {
    guard let value = reader.value(key) else { return fallback }
    if value == "off" { return nil }
    if let limit = value.stringValue.flatMap(RateLimit.init(parsing:)) { return limit }
    collector.fault(
      reader.path(of: key),
      "must be a number per time, such as \"10/s\", \"120/m\" or \"5000/h\", up to \(RateLimit.countMax), "
        + "or \"off\"")
    return fallback
  }

  private func retention(_ reader: ObjectReader) -> Configuration.Retention {
    let defaults = Configuration.Retention()
    defer { reader.reportUnknownKeys() }
    func read(_ key: String, _ fallback: Duration) -> Duration {
      reader.duration(key, default: fallback, in: ConfigurationLimits.retention)
    }
    return Configuration.Retention(
      contexts: read("contexts", defaults.contexts),
      events: read("events", defaults.events),
      attempts: read("attempts", defaults.attempts),
      receipts: read("receipts", defaults.receipts))
  }
}
