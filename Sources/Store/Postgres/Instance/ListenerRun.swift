// Receives the notifications of the other programs. The listener's thread.

internal import Platform
internal import Store

/// One run of the listener, from start to stop.
struct ListenerRun {
  /// How long a stop may wait for this thread.
  private static let waitTime: Duration = .milliseconds(200)

  private let owner: PostgresInstance
  private var connection: PostgresConnection?
  private var backoff = Backoff()

  init(_ owner: PostgresInstance) { self.owner = owner }

  mutating func loop() {
    while !owner.listener.isStopping {
      guard let connection = listening() else {
        PostgresConnection.pause(Self.waitTime)
        continue
      }
      do throws(PostgresError) {
        for message in try connection.notifications(within: Self.waitTime)
        where message.channel == InstanceNews.channel {
          handle(message.payload)
        }
      } catch {
        connection.close()
      }
    }
  }

  /// The connection that listens, connected again if it was lost.
  private mutating func listening() -> PostgresConnection? {
    if let connection, connection.isOpen { return connection }
    guard backoff.allowsTry else { return nil }
    do throws(PostgresError) {
      let fresh = try owner.source.connect(within: PostgresSource.reconnectTime)
      fresh.timeLimit = PostgresInstance.timeLimit
      try fresh.run("LISTEN \(InstanceNews.channel)")
      connection = fresh
      backoff = Backoff()
      // What was sent before is lost.
      owner.calls.onChanges(nil)
      return fresh
    } catch {
      backoff.fail()
      return nil
    }
  }

  private func handle(_ payload: String) {
    let (sender, changes) = InstanceNews.read(payload)
    guard sender != owner.id else {
      let now = MonotonicInstant.now()
      return owner.worker.withInbox { $0.heardAt = now }
    }
    if let changes, changes.isEmpty { return }
    owner.calls.onChanges(changes)
  }
}
