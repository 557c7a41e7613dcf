// A simulation of Swedbank Pay's API and of a payer, for experiments and tests. It listens on this machine
// only, keeps everything in memory, and moves no money.

public import Formats
public import HTTPServer
public import Platform

/// A running simulation of https://api.externalintegration.payex.com.
///
/// Owns a server, a timer thread and a thread that sends callbacks; `stop` ends them, and so does `deinit`.
/// Thread-safe, but do not call it from `onExchange` and `onCallback`.
public final class SandboxSwedbank: Sendable {
  private let service: SandboxServer<SandboxServiceHandler<SandboxSwedbankAccount>>
  private let callbacks: SandboxCallbacks

  /// Starts to listen.
  /// - Parameters:
  ///   - port: 0 lets the system choose a free port.
  ///   - token: the accepted token of the merchant; nil accepts any.
  ///   - payeeID: the accepted `payeeId`; nil accepts any.
  ///   - callbackScale: multiplies the times between the attempts of a callback, 0…1000.
  ///   - seed: the same seed makes the same ids and fails the same requests, counted in order of arrival.
  ///   - onExchange: called for each request, on a thread of the server; must not block for long.
  ///   - onCallback: called after each attempt to send a callback; the same holds.
  /// - Throws: `ServerError`; then nothing keeps running.
  public init(
    port: UInt16 = 0, token: String? = nil, payeeID: String? = nil, faults: SandboxFaults = SandboxFaults(),
    callbackScale: Double = 1, seed: UInt64 = 1, clock: any Clock = SystemClock(),
    onExchange: @escaping @Sendable (SandboxExchange) -> Void = { _ in },
    onCallback: @escaping @Sendable (SandboxCallbackAttempt) -> Void = { _ in }
  ) throws(ServerError) {
    let callbacks: SandboxCallbacks
    do {
      callbacks = try SandboxCallbacks(scale: callbackScale, onAttempt: onCallback)
    } catch {
      throw .system(error)
    }
    self.callbacks = callbacks
    let account = SandboxSwedbankAccount(
      base: "http://\(SandboxDestination.address):\(port)", token: token, payeeID: payeeID, seed: seed)
    do throws(ServerError) {
      service = try SandboxServer(port: port) { timer in
        SandboxServiceHandler(
          account, faults, seed: seed, clock: clock, timer: timer, onExchange: onExchange,
          onEffects: { callbacks.send($0) })
      }
    } catch {
      callbacks.stop()
      throw error
    }
    // Nobody knows a port that the system chose before this.
    let base = service.base
    service.handler.state.withLock { $0.account.base = base }
  }

  deinit { stop() }

  /// The value of `swedbank.api_base` that sends requests here.
  public var base: String { service.base }

  /// Which requests fail, and how.
  public var faults: SandboxFaults {
    get { service.handler.state.withLock { $0.faults } }
    set { service.handler.state.withLock { $0.faults = newValue } }
  }

  /// How often each callback is sent: 0 loses all.
  public var callbackCopies: Int {
    get { service.handler.state.withLock { $0.account.callbackCopies } }
    set { service.handler.state.withLock { $0.account.callbackCopies = newValue } }
  }

  /// All orders, the oldest first.
  public var orders: [SandboxSwedbankOrder] { service.handler.state.withLock { $0.account.list } }

  /// What `GET /ledger` answers.
  public var ledger: JSONValue { service.handler.state.withLock { $0.account.ledger } }

  /// Acts as the payer, or as a user of the merchant's portal.
  /// - Parameter id: the order's resource, `/psp/paymentorders/…`.
  /// - Returns: false if there is no such order, or if its state forbids it.
  @discardableResult public func perform(_ action: SandboxSwedbankAction, on id: String) -> Bool {
    service.handler.change { account, now in account.perform(action, on: id, now: now) }
  }

  /// Sends the last callback of an order again.
  /// - Returns: false if there is no such order, or if it names no URL.
  @discardableResult public func repeatCallback(of id: String) -> Bool {
    service.handler.change { account, _ in account.repeatCallback(of: id) }
  }

  /// Ends everything, and returns when no thread is left.
  public func stop() {
    service.stop()
    callbacks.stop()
  }
}
