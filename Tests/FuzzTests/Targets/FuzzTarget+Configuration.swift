// The operator's input: the configuration file, and the addresses in it.

import Formats
import Platform

@testable import Config
@testable import HTTPClient
@testable import Service

extension FuzzTarget {
  private static let secrets = [
    "CLIENT_KEY": "client-key-that-nobody-may-see", "WEBHOOK_SECRET": "whsec_that-nobody-may-see",
    "API_KEY": "api-key-that-nobody-may-see", "PADDED": " padded-that-nobody-may-see", "EMPTY": "",
  ]

  static let configuration = FuzzTarget("configuration", bytesMax: 8192) { bytes in
    let faults: [Fault]
    switch Result(catching: { () throws(ConfigurationFaults) in try load(bytes) }) {
    case .success(let loaded):
      try checkLoaded(loaded.configuration)
      faults = loaded.warnings
    case .failure(let refusal):
      try hold(!refusal.faults.isEmpty, "refused without a fault")
      faults = refusal.faults + refusal.warnings
    }
    try checkWords(faults)
    try checkSecrecy(of: faults, bytes)
    try checkPlace(bytes)
  }

  private static func load(_ bytes: [UInt8]) throws(ConfigurationFaults) -> LoadedConfiguration {
    try ConfigurationLoader.read(
      FileContent(bytes: bytes, mode: 0o644), path: "/etc/receiptd/receiptd.json5",
      environment: Environment(secrets), secrets: .required)
  }

  private static func checkWords(_ faults: [Fault]) throws {
    for fault in faults {
      try hold(!fault.message.isEmpty, "a fault without words")
      try hold(
        !fault.description.utf8.contains { $0 < 0x20 || $0 == 0x7F },
        "a control character in: \(fault.description)")
    }
  }

  /// R7: no fault repeats the value of a secret, wherever it is.
  private static func checkSecrecy(of faults: [Fault], _ bytes: [UInt8]) throws {
    let said = faults.map(\.description).joined(separator: "\n")
    try hold(!said.contains("that-nobody-may-see"), "a secret is said: \(said)")
    guard let value = try? JSONValue(parsing: bytes, json5: true) else { return }
    // References, paths, addresses and key names may be printed; one of them may equal a secret elsewhere.
    func isPublic(_ text: String) -> Bool { text.contains("/") || text.contains(":") }
    let texts = texts(in: value)
    let sayable = names(in: value) + "\n" + texts.filter(isPublic).joined(separator: "\n")
    for text in texts where text.contains("hush") && !isPublic(text) && !sayable.contains(text) {
      try hold(!said.contains(text), "a text of the file is said: \(text)")
    }
  }

  private static func texts(in value: JSONValue) -> [String] {
    switch value {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(texts)
    case .object(let members): members.flatMap { texts(in: $0.value) }
    default: []
    }
  }

  private static func names(in value: JSONValue) -> String {
    switch value {
    case .array(let elements): elements.map(names).joined(separator: "\n")
    case .object(let members): members.map { $0.name + "\n" + names(in: $0.value) }.joined(separator: "\n")
    default: ""
    }
  }

  /// A loaded configuration can be printed without its secrets, and the output is a valid configuration.
  private static func checkLoaded(_ configuration: Configuration) throws {
    var other = configuration
    var hasSecretInPlace = false
    func replace(_ secret: inout Secret) {
      guard secret.source == .inPlace else { return }
      hasSecretInPlace = true
      secret = Secret("another secret than the one that was set")
    }
    // The shown URL has other passwords, or none.
    if configuration.database.filePath == nil { hasSecretInPlace = true }
    for index in other.apps.indices {
      if case .restricted(var keys, let tokens, let headers) = other.apps[index].client {
        for key in keys.indices { replace(&keys[key]) }
        other.apps[index].client = .restricted(keys: keys, tokens: tokens, headers: headers)
      }
      if var stripe = other.apps[index].stripe {
        for key in stripe.webhookSecrets.indices { replace(&stripe.webhookSecrets[key]) }
        if var key = stripe.apiKey {
          replace(&key)
          stripe.apiKey = key
        }
        other.apps[index].processors = [ConfiguredProcessor(section: stripe)]
      }
      if var purchasely = other.apps[index].purchasely {
        replace(&purchasely.apiKey)
        other.apps[index].purchasely = purchasely
      }
      if var webhook = other.apps[index].webhook {
        for key in webhook.secrets.indices { replace(&webhook.secrets[key]) }
        other.apps[index].webhook = webhook
      }
    }
    let text = configuration.redacted.prettyText
    try hold(text == other.redacted.prettyText, "a secret shows in what is in force")
    if hasSecretInPlace { return }
    let again = try load(Array(text.utf8)).configuration
    try hold(again == configuration, "what is shown is not what is in force: \(text)")
    for app in configuration.apps { _ = try App(app) }
  }

  /// A fault names a place that exists in the file.
  private static func checkPlace(_ bytes: [UInt8]) throws {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    var reader = JSON5Reader(text)
    let place: JSON5Reader.Place
    do throws(JSON5Reader.SyntaxFault) {
      _ = try reader.read()
      return
    } catch { place = error.place }
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    try hold((1...lines.count).contains(place.line), "a fault on line \(place.line) of \(lines.count)")
    try hold(
      (1...(lines[place.line - 1].count + 1)).contains(place.column), "a fault in column \(place.column)")
  }

  /// The client accepts every address that `--check` accepts, and neither sends keys unencrypted.
  static let url = FuzzTarget("url", bytesMax: 512) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    let checked = EndpointURL.fault(in: text)
    switch Result(catching: { () throws(TransferFailure) in try TransferURL(text) }) {
    case .success(let url):
      try hold(
        url.scheme == "https" || url.scheme == "http" && url.isLoopback, "\(url.scheme) to another machine")
    case .failure:
      try hold(checked != nil, "an address that --check lets pass, and the client does not take")
    }
  }
}
