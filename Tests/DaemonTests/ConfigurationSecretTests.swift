import Domain
import Platform
import TestSupport
import Testing

@testable import Config

@Suite struct ConfigurationSecretTests {
  typealias Samples = ConfigurationSamples

  private func webhookSecret(_ reference: String) throws -> Secret {
    let secrets =
      try Samples.app(Samples.text(webhookSecrets: "['\(reference)']")).stripe?.webhookSecrets ?? []
    return try #require(secrets.first)
  }

  @Test func aSecretComesFromTheEnvironmentAFileOrTheConfiguration() throws {
    let folder = try TestFolder()
    let file = try folder.write("whsec_file\n", to: "secret")
    #expect(
      try webhookSecret("env:WEBHOOK_SECRET") == Secret("whsec_one", source: .environment("WEBHOOK_SECRET")))
    #expect(try webhookSecret("file:\(file)") == Secret("whsec_file", source: .file(file)))
    #expect(try webhookSecret("whsec_place").reveal() == "whsec_place")
  }

  @Test(arguments: ["whsec_file", "whsec_file\n", "whsec_file\r\n"])
  func oneNewlineAtTheEndOfAFileIsDropped(content: String) throws {
    let folder = try TestFolder()
    let file = try folder.write(content, to: "secret")
    #expect(try webhookSecret("file:\(file)").reveal() == "whsec_file")
  }

  @Test(arguments: [
    ("env:UNSET", "UNSET, which is not set"), ("env:EMPTY", "is empty (in the environment variable EMPTY)"),
    ("env:PADDED", "has spaces or line breaks around it"), ("env:", "names no environment variable"),
    ("env:A-B", "names no environment variable"), ("file:relative", "by the whole path"),
    ("file:$CREDENTIALS_DIRECTORY/x", "variables are not expanded"),
    ("file:/nowhere/x", "cannot read /nowhere/x"),
    ("file:/etc", "cannot read /etc"), ("", "is empty"), ("   ", "is empty"), (" x", "has spaces"),
    ("x\\ty", "control"),
  ])
  func aSecretThatCannotBeUsedIsAFaultThatSaysWhatToDo(reference: String, message: String) {
    let faults = Samples.faults(Samples.text(webhookSecrets: "['\(reference)']"))
    #expect(faults.map(\.path) == ["apps.shop.stripe.webhook_secrets[0]"])
    #expect(faults.first?.message.contains(message) == true, "\(faults)")
  }

  @Test(arguments: ["", "\n", "two\nlines\n", "x\n\n", " x\n", String(repeating: "x", count: 20_000)])
  func aFileMustHoldTheSecretAlone(content: String) throws {
    let folder = try TestFolder()
    let file = try folder.write(content, to: "secret")
    #expect(Samples.faults(Samples.text(webhookSecrets: "['file:\(file)']")).count == 1)
  }

  @Test(
    "A byte order mark or quotation marks in a secret's file made every signature wrong",
    arguments: [
      ("\u{FEFF}whsec_file\n", "begins with a byte order mark"),
      ("\"whsec_file\"\n", "has quotation marks around it"),
      ("'whsec_file'", "has quotation marks around it"),
      ("“whsec_file”", "has quotation marks around it"), ("''", "has quotation marks around it"),
    ])
  func aCopyingMistake(content: String, message: String) throws {
    let folder = try TestFolder()
    let file = try folder.write(content, to: "secret")
    let faults = Samples.faults(Samples.text(webhookSecrets: "['file:\(file)']"))
    #expect(faults.count == 1)
    #expect(
      faults.first?.message.contains("\(message) (in \(file)); put the secret alone") == true, "\(faults)")
    #expect(!"\(faults)".contains("whsec_file"))
    // A mark inside is a part of the secret.
    let inside = try folder.write("a\"b'c", to: "inside")
    #expect(try webhookSecret("file:\(inside)").reveal() == "a\"b'c")
  }

  @Test func `A secret in place in a file that all users can read is a warning`() throws {
    let text = Samples.text(webhookSecrets: "['whsec_place']")
    let loaded = try Samples.read(text, mode: 0o644)
    #expect(loaded.warnings.map(\.path) == ["apps.shop.stripe.webhook_secrets[0]"])
    #expect(loaded.warnings.first?.message.contains("all users of this machine can read") == true)
    #expect(try Samples.read(text, mode: 0o604).warnings.count == 1)
    // A service reads root's file as a member of its group.
    #expect(try Samples.read(text, mode: 0o640).warnings.isEmpty)
    #expect(try Samples.read(text, mode: 0o600).warnings.isEmpty)
    #expect(try Samples.read(Samples.text(), mode: 0o644).warnings.isEmpty)
  }

  @Test func `A secret's file to which every user has access is a warning, as a secret in place is`() throws {
    let folder = try TestFolder()
    let modes: [(UInt32, Bool)] = [
      (0o644, true), (0o642, true), (0o604, true), (0o640, false), (0o600, false),
    ]
    for (mode, isOpen) in modes {
      let file = try folder.write("whsec_file", to: "secret", mode: mode)
      let loaded = try Samples.read(Samples.text(webhookSecrets: "['file:\(file)']"))
      #expect(loaded.warnings.map(\.path) == (isOpen ? ["apps.shop.stripe.webhook_secrets[0]"] : []))
      #expect(loaded.warnings.allSatisfy { $0.message.contains("chmod o= \(file)") })
    }
  }

  @Test func theFilesOwnModeCounts() throws {
    let folder = try TestFolder()
    let text = Samples.text(webhookSecrets: "['whsec_place']")
    let open = try folder.write(text, to: "open.json5", mode: 0o644)
    let closed = try folder.write(text, to: "closed.json5", mode: 0o600)
    #expect(try ConfigurationLoader.load(path: open, environment: Samples.environment).warnings.count == 1)
    #expect(try ConfigurationLoader.load(path: closed, environment: Samples.environment).warnings.isEmpty)
  }

  @Test func aSecretNeverShowsItsValue() throws {
    let secrets = [
      Secret("hush", source: .environment("NAME")), Secret("hush", source: .file("/f")), Secret("hush"),
    ]
    let configuration = AppConfiguration(
      slug: "a", client: .keys(secrets), stripe: .init(webhookSecrets: secrets),
      purchasely: .init(apiKey: secrets[0]))
    var text = "\(secrets) \(configuration) \(String(reflecting: configuration))"
    dump(configuration, to: &text)
    dump(secrets, to: &text)
    #expect(!text.contains("hush"))
    #expect(secrets.map(\.description) == ["env:NAME", "file:/f", "(set in place)"])
  }

  @Test func noFaultRepeatsWhatStandsWhereASecretMayStand() {
    let faults = Samples.faults(
      Samples.text(
        root:
          "listen: { port: 'hush' }, log: { level: 'hush' }, limits: { queue: 'hush', context_body: 'hush'},",
        client: "client: 'hush',",
        stripe: "tolerance: 'hush', connect: 'hush', api_base: 'https://hush@x', api_key: ' hush',",
        webhookSecrets: "'hush'", purchasely: "url: 'hush',"))
    #expect(faults.count == 11, "\(faults.map(\.description))")
    for fault in faults { #expect(!fault.description.contains("hush")) }
  }

  @Test func whoNeedsNoSecretLoadsTheRestWithoutThem() throws {
    let loaded = try Samples.read(Samples.text(), environment: Environment([:]), secrets: .whereAvailable)
    let app = try #require(loaded.configuration.apps.first)
    let purchasely = try #require(app.purchasely)
    #expect(purchasely.apiKey.description == "env:API_KEY")
    let fault = #expect(throws: Fault.self) { try purchasely.apiKey.reveal() }
    #expect(fault?.path == "apps.shop.purchasely.api_key")
    #expect(fault?.message.contains("API_KEY, which is not set") == true)
  }

  @Test func aKeyThatIsPastedInPlaceOfItsPathIsNotRepeated() {
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ"
    let faults = ConfigurationSamples.faults(
      ConfigurationSamples.text(root: "listen: { tls: { certificate: '/nowhere/c.pem', key: '\(key)' } },"))
    #expect(faults.map(\.path) == ["listen.tls.certificate", "listen.tls.key"])
    #expect(faults.first?.message.hasPrefix("cannot read /nowhere/c.pem (") == true)
    #expect(faults.last?.message.hasPrefix("cannot read the file of this name in /etc/receiptd (") == true)
    #expect(!faults.contains { $0.description.contains(key) })
  }
}
