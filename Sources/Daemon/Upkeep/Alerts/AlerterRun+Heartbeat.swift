// Sending the heartbeat. The alerter's thread.

internal import HTTPClient
internal import Platform
internal import Service
internal import Store

extension AlerterRun {
  /// Sends the heartbeat if it is due.
  mutating func sendHeartbeat() {
    guard var beat else { return }
    defer { self.beat = beat }
    switch beat.step(monotonic: monotonic, isReady: alerter.sources.unreadiness().isEmpty) {
    case .none: break
    case .ask:
      let alerter = alerter
      let isQueued = alerter.sources.committer.submit(Pulse(), from: .internal) { result in
        if case .success = result {
          alerter.worker.post { $0.pulse = true }
        } else {
          alerter.worker.post { $0.pulse = false }
        }
      }
      if !isQueued { beat.pulse(false, monotonic: monotonic) }
    case .send:
      let request = TransferRequest(
        method: .get, url: beat.address.url, headers: [TransferHeader("User-Agent", Version.userAgent)],
        timeout: Alerter.timeout, connectTimeout: Alerter.connectTimeout)
      do throws(TransferFailure) {
        try transport.start(request, tag: firstTag - 1)
      } catch {
        let attempt = AlertAttempt(notStarted: error)
        let isNews = beat.finish(attempt, monotonic: monotonic)
        report(true, isNews, "heartbeat", attempt.text, beat.address.label)
      }
    }
  }
}
