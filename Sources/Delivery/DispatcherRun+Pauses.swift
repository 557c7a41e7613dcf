// Follows operators' pauses of apps. The dispatcher's thread.

internal import Domain
internal import Persistence
internal import Platform
internal import Store
internal import Telemetry

extension DispatcherRun {
  /// Reads the pauses if it is time to, and gives each lane that of its app.
  mutating func followPauses() {
    let monotonic = monotonic
    guard monotonic >= pausesReadAt else { return }
    do throws(StoreFault) {
      let pauses = try reader.pauses()
      let now = now
      for place in lanes.keys { lanes[place]?.use(pauses[place.app] ?? AppPause(), now: now) }
      pausesReadAt = monotonic.advanced(by: lookInterval)
    } catch {
      dispatcher.faultLines.logFault(
        "could not read which apps are paused; trying again", error, to: log, now: monotonic)
      pausesReadAt = monotonic.advanced(by: Dispatcher.faultPause)
    }
  }
}
