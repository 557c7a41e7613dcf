// Finds the configuration file, reads it and checks every key, and reports every fault. `receiptd`, `receiptd
// --check`, SIGHUP and `receiptctl config` all use it. Blocks on files; any thread that may block.

internal import Formats
public import Platform

/// A configuration without faults, and its warnings.
public struct LoadedConfiguration: Sendable {
  public let configuration: Configuration
  public let warnings: [Fault]
}

/// The only way to load a configuration.
public enum ConfigurationLoader {
  /// The file's default path.
  public static let defaultPath = "/etc/receiptd/receiptd.json5"
  /// The environment variable that contains the file's path.
  public static let pathVariable = "RECEIPTD_CONFIG"

  /// The file's path: `--config`, else `$RECEIPTD_CONFIG`, else the default.
  /// - Parameter option: the value of `--config`. An empty variable counts as unset.
  public static func path(option: String?, environment: Environment) -> String {
    if let option { return option }
    guard let variable = environment[pathVariable], !variable.isEmpty else { return defaultPath }
    return variable
  }

  /// Reads and checks a configuration file and the files that it names.
  /// - Parameters:
  ///   - environment: where `env:NAME` is looked up.
  ///   - secrets: whether a secret that cannot be read is a fault.
  /// - Throws: every fault at once.
  public static func load(
    path: String, environment: Environment = .process, secrets: SecretPolicy = .required
  ) throws(ConfigurationFaults) -> LoadedConfiguration {
    try read(content(path), path: path, environment: environment, secrets: secrets)
  }

  private static func content(_ path: String) throws(ConfigurationFaults) -> FileContent {
    do {
      return try FileReading.content(of: path, bytesMax: KeyRanges.fileBytesMax)
    } catch {
      let remedy =
        error.isPermissionDenied
        ? "let the user that receiptd runs as read it, such as by: chgrp receiptd FILE, chmod 640 FILE; and "
          + "run receiptctl as that user: sudo -u receiptd receiptctl …"
        : "name another one with --config or $\(pathVariable), or write a starter file with receiptctl "
          + "config init"
      throw refusal("cannot read the configuration \(path) (\(error.reason)); \(remedy)")
    }
  }

  /// What reading the database needs. A file with faults is enough, as long as it names the database: then
  /// the configuration is partial. Secrets that cannot be read have no value.
  /// - Throws: why the file cannot be read, or that it does not name one database.
  public static func readable(
    path: String, environment: Environment
  ) throws(ConfigurationFaults) -> (configuration: Configuration, faults: [Fault]) {
    let content = try content(path)
    let collector = FaultCollector()
    var faults: [Fault] = []
    let found: JSONValue
    do {
      found = try value(of: content.bytes, path: path, collector: collector)
    } catch {
      var reader = String(validating: content.bytes, as: UTF8.self).map(JSON5Reader.init)
      guard let place = reader?.text(ofKey: "database") else { throw error }
      found = ["database": .string(place)]
      faults = error.faults
    }
    let reader = ConfigurationReader(
      collector: collector,
      secrets: SecretReader(
        environment: environment, policy: .whereAvailable, isFileOpenToAll: content.isOpenToAll,
        collector: collector),
      directory: FileWriting.folder(of: path), processors: .standard, destinations: .standard)
    var configuration = reader.configuration(from: found)
    if faults.isEmpty { faults = collector.faults }
    guard configuration.database.filePath != "", !faults.contains(where: { $0.path == "database" }) else {
      throw ConfigurationFaults(faults: faults, warnings: collector.warnings)
    }
    configuration.isPartial = !faults.isEmpty
    return (configuration, faults)
  }

  /// A database that is named as in a configuration file.
  /// - Parameters:
  ///   - option: what names it, for messages.
  ///   - folder: where a relative path begins.
  public static func database(
    _ text: String, option: String, folder: String, environment: Environment
  ) throws(ConfigurationFaults) -> DatabasePlace {
    let collector = FaultCollector()
    let reader = ConfigurationReader(
      collector: collector,
      secrets: SecretReader(
        environment: environment, policy: .required, isFileOpenToAll: false, collector: collector),
      directory: folder, processors: .standard, destinations: .standard)
    let place = ValueForm.database.read(.string(text), option, reader)
    guard let place, collector.faults.isEmpty else {
      throw ConfigurationFaults(faults: collector.faults, warnings: collector.warnings)
    }
    return place
  }

  /// Checks the content of a configuration file.
  /// - Parameter path: the file's path, for messages and to resolve relative paths.
  static func read(
    _ content: FileContent, path: String, environment: Environment, secrets: SecretPolicy,
    processors: ProcessorRegistry = .standard, destinations: DestinationRegistry = .standard
  ) throws(ConfigurationFaults) -> LoadedConfiguration {
    let collector = FaultCollector()
    let value = try value(of: content.bytes, path: path, collector: collector)
    let reader = ConfigurationReader(
      collector: collector,
      secrets: SecretReader(
        environment: environment, policy: secrets, isFileOpenToAll: content.isOpenToAll,
        collector: collector),
      directory: FileWriting.folder(of: path), processors: processors, destinations: destinations)
    let configuration = reader.configuration(from: value)
    guard collector.faults.isEmpty else {
      throw ConfigurationFaults(faults: collector.faults, warnings: collector.warnings)
    }
    return LoadedConfiguration(configuration: configuration, warnings: collector.warnings)
  }

  private static func value(
    of bytes: [UInt8], path: String, collector: FaultCollector
  ) throws(ConfigurationFaults) -> JSONValue {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw refusal("\(path) is not UTF-8 text")
    }
    let value: JSONValue
    var reader = JSON5Reader(text)
    do throws(JSON5Reader.SyntaxFault) {
      value = try reader.read()
    } catch {
      throw refusal("\(path), line \(error.place.line), column \(error.place.column): \(error.message)")
    }
    for duplicate in reader.duplicates {
      collector.fault(
        duplicate.path,
        "is given twice, on the lines \(duplicate.firstLine) and \(duplicate.secondLine); keep one")
    }
    return value
  }

  private static func refusal(_ message: String) -> ConfigurationFaults {
    ConfigurationFaults(faults: [Fault(path: "", message: message)])
  }
}
