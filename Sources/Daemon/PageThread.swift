// The thread that answers requests of operators which read the database. The admin listener has one thread,
// and a query may wait for a lock, or for a server that does not answer: a probe must not wait with it.

internal import Platform
internal import Service

/// Runs the handlers of routes one after the other. Thread-safe.
final class PageThread: Sendable {
  private struct Inbox: WorkerInbox {
    var isStopping = false
    var tasks: [@Sendable () -> Void] = []
  }

  private let worker = Worker("pages", inbox: Inbox())

  func start() throws(SystemError) {
    try worker.start { [worker] in
      while true {
        let (tasks, isStopping) = worker.read { inbox in
          defer { inbox.tasks = [] }
          return (inbox.tasks, inbox.isStopping)
        }
        for task in tasks { task() }
        if isStopping, tasks.isEmpty { return }
        if !isStopping { worker.wait() }
      }
    }
  }

  func stop() { worker.stop() }

  /// The same route, with its handler on this thread; after the stop on the listener's.
  func serve(_ route: Route) -> Route {
    route.handled { [worker] task in
      let isQueued = worker.post { inbox in
        if !inbox.isStopping { inbox.tasks.append(task) }
        return !inbox.isStopping
      }
      if !isQueued { task() }
    }
  }
}
