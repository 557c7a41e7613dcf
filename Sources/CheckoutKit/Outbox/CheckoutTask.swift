// The kit's functions with completion handlers, for code without `async`. Handlers are called on the main
// actor, once. Called from any thread.

public import Foundation

/// A call with a completion handler that is under way.
public struct CheckoutTask: Sendable {
  private let task: Task<Void, Never>

  /// Cancels the call; the handler gets ``RelayError/cancelled``, unless it was called before.
  public func cancel() { task.cancel() }

  static func run<Success: Sendable>(
    _ body: @escaping @Sendable () async throws(RelayError) -> Success,
    undo: @escaping @Sendable (Success) -> Void = { _ in },
    then completion: @escaping @MainActor @Sendable (Result<Success, RelayError>) -> Void
  ) -> CheckoutTask {
    CheckoutTask(
      task: Task {
        let result: Result<Success, RelayError>
        do throws(RelayError) {
          result = .success(try await body())
        } catch {
          result = .failure(error)
        }
        await finish(result, undo, completion)
      })
  }

  /// Calls the handler. On its actor, because the call may be cancelled there until then.
  @MainActor private static func finish<Success: Sendable>(
    _ result: Result<Success, RelayError>, _ undo: @Sendable (Success) -> Void,
    _ completion: @MainActor @Sendable (Result<Success, RelayError>) -> Void
  ) async {
    guard Task.isCancelled, case .success(let value) = result else { return completion(result) }
    undo(value)
    completion(.failure(.cancelled))
  }
}

extension CheckoutOutbox {
  /// ``begin(_:userID:)`` with a completion handler, which is called on the main actor. Cancel it when the
  /// customer taps again, so that only the last tap opens a page.
  @discardableResult public func begin(
    _ context: WebCheckoutContext, userID: String,
    completion: @escaping @MainActor @Sendable (Result<StartedCheckout, RelayError>) -> Void
  ) -> CheckoutTask {
    CheckoutTask.run(
      { () async throws(RelayError) in try await self.begin(context, userID: userID) },
      undo: { self.discard([$0.contextID]) }, then: completion)
  }

  /// ``claim(_:userID:)`` with a completion handler, which is called on the main actor.
  @discardableResult public func claim(
    _ link: ClaimLink, userID: String,
    completion: @escaping @MainActor @Sendable (Result<ClaimResult, RelayError>) -> Void
  ) -> CheckoutTask {
    CheckoutTask.run(
      { () async throws(RelayError) in try await self.claim(link, userID: userID) }, then: completion)
  }

  /// ``flush()`` with a completion handler, which is called on the main actor with the number of contexts
  /// that still wait. Nothing cancels it.
  public func flush(completion: @escaping @MainActor @Sendable (Int) -> Void) {
    Task { await completion(flush()) }
  }
}

extension RelayClient {
  /// ``checkout(_:userID:id:)`` with a completion handler, which is called on the main actor.
  @discardableResult public func checkout(
    _ context: WebCheckoutContext, userID: String, id: String? = nil,
    completion: @escaping @MainActor @Sendable (Result<PostedContext, RelayError>) -> Void
  ) -> CheckoutTask {
    CheckoutTask.run(
      { () async throws(RelayError) in try await self.checkout(context, userID: userID, id: id) },
      then: completion
    )
  }

  /// ``post(_:userID:id:)`` with a completion handler, which is called on the main actor.
  @discardableResult public func post(
    _ context: WebCheckoutContext, userID: String, id: String? = nil,
    completion: @escaping @MainActor @Sendable (Result<PostedContext, RelayError>) -> Void
  ) -> CheckoutTask {
    CheckoutTask.run(
      { () async throws(RelayError) in try await self.post(context, userID: userID, id: id) },
      then: completion)
  }

  /// ``status(of:)`` with a completion handler, which is called on the main actor.
  @discardableResult public func status(
    of contextID: String,
    completion: @escaping @MainActor @Sendable (Result<CheckoutStatus, RelayError>) -> Void
  ) -> CheckoutTask {
    CheckoutTask.run(
      { () async throws(RelayError) in try await self.status(of: contextID) }, then: completion)
  }

  /// ``finalStatus(of:within:)`` with a completion handler, which is called on the main actor.
  @discardableResult public func finalStatus(
    of contextID: String, within seconds: TimeInterval = 600,
    completion: @escaping @MainActor @Sendable (Result<CheckoutStatus, RelayError>) -> Void
  ) -> CheckoutTask {
    CheckoutTask.run(
      { () async throws(RelayError) in try await self.finalStatus(of: contextID, within: seconds) },
      then: completion)
  }
}
