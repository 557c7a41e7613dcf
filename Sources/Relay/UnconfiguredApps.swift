// What only an operator can decide: open receipts of apps that are not in the configuration, for the
// configuration check and the log, and payers with several owners. Called from any thread.

public import Configuration
internal import Domain
internal import Platform
internal import Presentation
internal import Store

extension Configuration {
  /// Warnings about apps with open receipts that are not in this configuration. Empty if the database does
  /// not exist, cannot be read, or has another schema; but a server that refuses its URL is a warning.
  public var databaseWarnings: [Fault] {
    let reader: StoreReader
    do throws(StoreError) {
      reader = try Engines.reader(of: self)
    } catch {
      guard database.filePath == nil, case .fault(let fault) = error else { return [] }
      return [Fault(path: "database", message: "cannot be used now: \(fault)")]
    }
    // Best effort, as documented above.
    guard let counts = try? reader.counts() else { return [] }
    return UnconfiguredApp.all(counts, configured: apps.map(\.slug)).map {
      Fault(path: "apps.\($0.slug)", message: "\($0.sentence). \($0.advice)")
    }
  }
}

extension UnconfiguredApp {
  /// Logs every app with open receipts that the configuration does not have.
  static func log(_ reader: StoreReader, configured: [AppSlug], _ log: Log) {
    do throws(StoreFault) {
      for app in all(try reader.counts(), configured: configured) {
        log.warning(
          "an app is not configured and has open receipts: they are kept, and nothing is decided or "
            + "delivered. Configure the app again, then reload",
          ["app": app.slug.text, "waiting": String(app.waiting), "pending": String(app.pending)])
      }
    } catch {
      log.error(
        "could not read the receipts of apps that are not configured", ["error": error.description])
    }
  }
}

extension SharedPayer {
  /// Logs that there are some. Whose they are is personal data, which no log has.
  static func log(_ found: [SharedPayer], _ log: Log) {
    guard let first = found.first else { return }
    log.warning(
      "payers of one merchant's account belong to several users, who named them in different apps: none of "
        + "them gets the stored cards. To see them: receiptctl doctor --only work",
      ["processor": first.processor.text, "account": first.account.text, "payers": String(found.count)])
  }

  static func log(_ reader: StoreReader, _ log: Log) {
    do throws(StoreFault) {
      Self.log(try reader.sharedPayers(), log)
    } catch {
      log.error("could not read the owners of payers", ["error": error.description])
    }
  }
}
