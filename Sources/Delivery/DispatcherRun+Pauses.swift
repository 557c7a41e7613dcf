// Follows operators' pauses of apps. The dispatcher's thread.

internal import Domain
internal import Persistence
internal import Platform
internal import Store
internal import Telemetry

extension DispatcherRun {
  /// Reads the pauses if it is time to.
  /// - Returns: whether they are known.
  mutating func followPauses() -> Bool {
    let monotonic = monotonic
    guard monotonic >= pausesReadAt else { return pauses != nil }
    do throws(StoreFault) {
      pauses = try reader.pauses()
      pausesReadAt = monotonic.advanced(by: lookInterval)
    } catch {
      dispatcher.faultLines.logFault(
        "could not read which apps are paused; trying again", error, to: log, now: monotonic)
      pausesReadAt = monotonic.advanced(by: Dispatcher.faultPause)
    }
    givePauses()
    return pauses != nil
  }

  /// Gives each lane the pause of its app.
  mutating func givePauses() {
    let now = now
    for place in lanes.keys {
      let pause = pauses?[place.app] ?? AppPause()
      guard let before = lanes[place]?.pause, before != pause else { continue }
      lanes[place]?.pause = pause
      if before.isActive(now: now), !pause.isActive(now: now) { lanes[place]?.note(anythingDueAt: now) }
    }
  }
}
