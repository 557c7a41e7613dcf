// What the checks of `receiptctl doctor` look at. One thread.

internal import Config
internal import Domain
internal import HTTPClient
internal import Service
internal import Store
internal import Terminal

/// The configuration, the database if it can be opened, and what receiptd last reported.
struct DoctorScene {
  let session: Session
  let configuration: Configuration
  /// The configuration's faults; the other checks use what could be read.
  let faults: [Fault]
  let warnings: [Fault]
  /// The apps to check.
  let apps: [AppConfiguration]
  /// Nil if the database cannot be read.
  let reader: StoreReader?
  /// Why it cannot be read.
  let readerFault: OperatorFault?
  /// Nil if the database cannot be read.
  let health: ServiceHealth?

  var now: Timestamp { session.now }
  /// The app of `--app`; nil for all.
  var only: AppSlug? { session.command.options["app"].map(AppSlug.init) }

  /// What every face shows of the apps to check, except what this page asks again.
  var findings: [Finding] {
    let asksAgain = !session.command.flag("local")
    return (health?.findings ?? []).filter {
      (only == nil || $0.app == nil || $0.app == only) && !($0.check == .associations && asksAgain)
    }
  }

  /// - Throws: `ConfigurationFaults` if the file does not name the database.
  init(_ session: Session) throws {
    self.session = session
    let (path, environment) = (session.configurationPath, session.dependencies.environment)
    do throws(ConfigurationFaults) {
      let loaded = try ConfigurationLoader.load(path: path, environment: environment, secrets: .required)
      (configuration, warnings, faults) = (loaded.configuration, loaded.warnings, [])
    } catch {
      configuration = try ConfigurationLoader.readable(path: path, environment: environment).configuration
      (warnings, faults) = (error.warnings, error.faults)
    }
    apps = try session.configuredApp(configuration).map { [$0] } ?? configuration.apps
    do {
      let reader = try session.reader(configuration)
      health = try ServiceHealth(reader, configuration, session)
      (self.reader, readerFault) = (reader, nil)
    } catch {
      (reader, health, readerFault) = (nil, nil, Self.fault(error))
    }
  }

  static func fault(_ error: any Error) -> OperatorFault {
    switch error {
    case let fault as OperatorFault: fault
    case let fault as StoreFault: OperatorFault(fault)
    default: OperatorFault(.failed, "\(error)")
    }
  }

  static let userAgent = "receiptctl/\(Version.number)"

  /// A request that gives up soon.
  static func request(_ url: String, headers: [TransferHeader] = [], answerBytesMax: Int = 1 << 20)
    -> TransferRequest
  {
    TransferRequest(
      method: .get, url: url,
      headers: headers + [TransferHeader("User-Agent", userAgent)],
      timeout: DoctorProbe.timeout, answerBytesMax: answerBytesMax)
  }
}
