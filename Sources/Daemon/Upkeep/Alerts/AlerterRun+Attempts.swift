// Starting an attempt to send a notice, and what follows from its result. The alerter's thread.

internal import Config
internal import Domain
internal import HTTPClient
internal import Platform
internal import Service
internal import Store

extension AlerterRun {
  mutating func start(_ message: AlertMessage, tag: UInt64) {
    switch message {
    case .request(let request):
      do throws(TransferFailure) {
        try transport.start(request, tag: tag)
      } catch {
        finish(AlertAttempt(notStarted: error), tag: tag)
      }
    case .mail(let mail):
      do throws(SystemError) {
        mails[tag] = try MailDelivery(mail, now: monotonic)
      } catch {
        finish(AlertAttempt(notStarted: error, mail), tag: tag)
      }
    }
  }

  /// Serves the programs that send e-mails.
  mutating func handleMails() {
    for (tag, mail) in mails {
      guard let attempt = mail.step(now: monotonic) else { continue }
      mails[tag] = nil
      finish(attempt, tag: tag)
    }
  }

  mutating func finish(_ completion: TransferCompletion) {
    let attempt = AlertAttempt(completion.result, now: now)
    if completion.tag == firstTag - 1 {
      let monotonic = monotonic
      guard let isNews = beat?.finish(attempt, monotonic: monotonic) else { return }
      report(beat?.isFailing == true, isNews, "heartbeat", attempt.text, plan.heartbeat?.address.label)
      return
    }
    finish(attempt, tag: completion.tag)
  }

  /// - Parameter tag: that of the transfer, or of the e-mail. Those of an older plan are ignored.
  private mutating func finish(_ attempt: AlertAttempt, tag: UInt64) {
    guard tag >= firstTag, couriers.indices.contains(Int(tag - firstTag)) else { return }
    let index = Int(tag - firstTag)
    guard let notice = couriers[index].sending else { return }
    let outcome = couriers[index].finish(attempt, now: now, monotonic: monotonic)
    let name = notice.key.condition.name
    alerter.sources.health?.notified(
      couriers[index].target.digest, failure: outcome.hasArrived ? nil : attempt.text, at: now)
    alerter.sources.metrics.alerts.increment(name, outcome.hasArrived ? "told" : "failed")
    report(!outcome.hasArrived, outcome.isNews, name, attempt.text, couriers[index].target.label)
    if let record = outcome.record { keep(SaveAlerts(sent: [record])) }
    if couriers[index].hasGivenUp(attempt) {
      for record in couriers[index].ledger.records where record.isFiring { reportUnended(record) }
      keep(SaveAlerts(forgotten: couriers[index].ledger.forgetAll()))
    }
    guard outcome.hasArrived, let record = outcome.record else { return }
    log.info(
      "sent an alert",
      [
        "alert": record.key.condition, "app": record.key.app?.text,
        "state": record.isFiring ? "firing" : "resolved",
        "to": couriers[index].target.label,
      ])
  }

  /// Logs the first failure, and the first success after it.
  func report(_ isFailing: Bool, _ isNews: Bool, _ name: String, _ status: String, _ label: String?) {
    guard isNews else { return }
    if isFailing {
      log.warning(
        "could not send an alert; trying again. Test it with: receiptctl alerts test",
        ["alert": name, "to": label, "status": status])
    } else {
      log.info("alerts can be sent again", ["alert": name, "to": label])
    }
  }

  /// Logs that the receiver of an alert will never get its end.
  func reportUnended(_ record: AlertRecord) {
    log.warning(
      "cannot report the end of an alert: its receiver is not in the configuration any more, or refuses it. "
        + "Close it there",
      ["alert": record.key.condition, "app": record.key.app?.text])
  }

  /// Saves alerts. An alert that cannot be saved is sent again after a restart.
  func keep(_ command: SaveAlerts) {
    guard !command.sent.isEmpty || !command.forgotten.isEmpty else { return }
    _ = alerter.sources.committer.submit(command, from: .internal) { _ in }
  }
}
