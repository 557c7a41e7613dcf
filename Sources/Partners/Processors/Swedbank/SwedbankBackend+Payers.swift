// Lists and deletes the stored cards of a payer. A payer belongs to the user who was the first to name it in
// a payment. Pure; any thread.

internal import Domain
internal import Formats

extension SwedbankBackend {
  func listPayerTokens(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    withTokens(request, user) { payer, success in
      .answer(
        answer(success) { root, edits in
          SwedbankResource(root)?.payerTokens?.forEachElement { token in
            guard let value = token.member("paymentToken")?.string, !value.isEmpty else { return }
            let path = "\(request.rootPath)payers/\(PercentEncoding.encode(payer.text))/paymentTokens/"
            let link: JSONValue = ["delete": .string(path + segment(of: value))]
            edits.set([("mobileSDK", link.serialized())], in: token)
          }
        })
    }
  }

  /// The token in the path of its link: its value only if apps may know it.
  private func segment(of token: String) -> String {
    settings.allow.expandTokens ? PercentEncoding.encode(token) : secrets.name(ofToken: token)
  }

  /// Finds the operation in the list, because its URL may not be stored, and carries it out.
  func deletePayerToken(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    guard settings.allow.payerTokens else { return .answer(SwedbankProblem.disabled("payer_tokens")) }
    return read(request, SwedbankRequestShapes.deleteToken) { root in
      guard root.member("state") != nil || root.member("status") != nil else {
        return .answer(
          SwedbankProblem.badRequest(ShapeFault(path: "state", message: "is required")))
      }
      let comment = root.member("comment")?.bytes(of: request.body) ?? []
      let body = Array(#"{"state":"Deleted","comment":"#.utf8) + comment + [UInt8(ascii: "}")]
      return withTokens(request, user) { _, success in
        let href = JSONDocument.read(success.body) { root in
          deletion(of: request.parameters["token"] ?? "", in: SwedbankResource(root)?.payerTokens)
        }
        guard let href = href ?? nil else {
          return .answer(SwedbankProblem.notFound("The payer has no token with this id to delete."))
        }
        guard let target = api.target(ofOperation: href) else { return .answer(success.unusable) }
        var reader = reader()
        reader.acceptsNoContent = true
        return call("PATCH", target, for: request, body: body, reader: reader) { .answer(answer($0)) }
      }
    }
  }

  /// The URL at which a token is deleted.
  /// - Parameter name: the last segment of its link, or its value.
  private func deletion(of name: String, in tokens: JSONNode?) -> String? {
    var href: String?
    tokens?.forEachElement { token in
      guard href == nil, let value = token.member("paymentToken")?.string, !value.isEmpty,
        value == name || secrets.name(ofToken: value) == name
      else { return }
      href = SwedbankResource.href(SwedbankRelation.deleteToken, in: token)
    }
    return href
  }

  /// Fetches the tokens of a payer of the user's.
  private func withTokens(
    _ request: BackendRequest, _ user: UserID,
    then: @escaping @Sendable (CustomerID, SwedbankSuccess) -> BackendStep
  ) -> BackendStep {
    guard settings.allow.payerTokens else { return .answer(SwedbankProblem.disabled("payer_tokens")) }
    guard let payer = Self.payer(request.parameters["payer"]) else {
      return .answer(SwedbankProblem.unknownPayer)
    }
    return .findCustomer(payer, user) { isOwner in
      guard isOwner else { return .answer(SwedbankProblem.unknownPayer) }
      let target = "/psp/paymentorders/payerownedpaymenttokens/" + PercentEncoding.encode(payer.text)
      return call("GET", target, for: request) { then(payer, $0) }
    }
  }

  /// - Returns: nil for a reference that a server could take for more than one segment of a path.
  private static func payer(_ reference: String?) -> CustomerID? {
    guard let reference = UntrustedText.identifier(reference), reference != ".", reference != "..",
      !reference.utf8.contains(UInt8(ascii: "/")), !reference.utf8.contains(UInt8(ascii: "\\"))
    else { return nil }
    return CustomerID(reference)
  }
}
