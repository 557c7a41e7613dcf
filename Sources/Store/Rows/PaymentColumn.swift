// The facts of a payment as one column of `purchases`: a compact JSON object. Pure; any thread.

internal import Domain
internal import Formats

extension PaymentFacts {
  /// `{"amount":"59.99","currency":"USD","captured":true}`; unknown facts are left out.
  var stored: String {
    var members: [JSONValue.Member] = []
    func add(_ name: String, _ value: JSONValue?) {
      if let value { members.append(.init(name: name, value: value)) }
    }
    add("amount", amount.map(JSONValue.string))
    add("currency", currency.map(JSONValue.string))
    add("captured", isCaptured.map(JSONValue.bool))
    add("reference", reference.map(JSONValue.string))
    add("details", details.map(JSONValue.string))
    return JSONValue.object(members).text
  }

  /// - Parameter text: as `stored` returned it. An invalid text has no facts.
  init(stored text: String) {
    let json = try? JSONValue(parsing: Array(text.utf8))
    let isCaptured: Bool? = if case .bool(let flag) = json?["captured"] { flag } else { nil }
    self.init(
      amount: json?["amount"]?.stringValue, currency: json?["currency"]?.stringValue,
      isCaptured: isCaptured, reference: json?["reference"]?.stringValue,
      details: json?["details"]?.stringValue)
  }
}
