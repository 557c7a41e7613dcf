// What only an operator can decide, for the log: open receipts of apps that are not in the configuration, and
// payers with several owners. Called from any thread.

internal import Domain
internal import Platform
internal import Reports
internal import Store

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
