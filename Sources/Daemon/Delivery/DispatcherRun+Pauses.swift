// Follows operators' pauses of apps. The dispatcher's thread.

internal import Domain
internal import Platform
internal import Reports
internal import Service
internal import Store

extension DispatcherRun {
  /// Reads the pauses if it is time to, and gives each lane that of its app.
  mutating func followPauses() {
    let monotonic = monotonic
    guard monotonic >= pausesReadAt else { return }
    do throws(StoreFault) {
      let pauses = try reader.pauses()
      for place in lanes.keys { use(pauses[place.app] ?? AppPause(), of: place) }
      pausesReadAt = monotonic.advanced(by: lookInterval)
    } catch {
      dispatcher.faultLines.logFault(
        "could not read which apps are paused; trying again", error, to: log, now: monotonic)
      pausesReadAt = monotonic.advanced(by: Dispatcher.faultPause)
    }
  }

  /// Gives a lane its pause. Logs that deliveries are held from now on, or not any more: another program
  /// that changed the pause cannot know when that is. Only the program that delivers the app logs it.
  private mutating func use(_ pause: AppPause, of place: AppDestination) {
    let now = now
    lanes[place]?.use(pause, now: now)
    let isHeld = pause.isActive(now: now)
    guard let lane = lanes[place], lane.isLoggedAsHeld != isHeld, mayStart(place.app) else { return }
    lanes[place]?.isLoggedAsHeld = isHeld
    let fields: LogFields = ["app": place.app.text, "destination": place.destination.text]
    if isHeld {
      log.info("an operator holds the deliveries", fields + ["until": pause.until?.rfc3339])
    } else {
      log.info("the operator's hold on the deliveries has ended", fields)
    }
  }
}
