// The claim link that waits for its customer to sign in, in the outbox's folder. Called from any task.

extension CheckoutOutbox {
  /// The claim link that waits until the customer has signed in and has agreed; nil if there is none. It is
  /// kept across launches.
  public var keptClaim: ClaimLink? {
    state.withLock { state in
      if state.claim == nil { state.claim = folder?.claim() }
      return state.claim
    }
  }

  /// Keeps the link that opened the app. The latest one takes the place of an earlier one.
  public func keep(_ link: ClaimLink) {
    state.withLock { state in
      state.claim = link
      // If it cannot be stored, it is kept while the app runs; the customer has the link.
      folder?.save(claim: link)
    }
  }

  /// Drops the kept link, for a customer who does not want the purchase in this account.
  public func discardClaim() {
    state.withLock { state in
      state.claim = nil
      folder?.save(claim: nil)
    }
  }

  /// Claims a purchase as ``RelayClient/claim(_:userID:)`` does, and keeps its link until the relay has
  /// decided.
  public func claim(_ link: ClaimLink, userID: String) async throws(RelayError) -> ClaimResult {
    let result = try await relay.claim(link, userID: userID)
    // A newer link may have come meanwhile.
    if result.isFinal, keptClaim == link { discardClaim() }
    return result
  }
}
