// The bodies with which clients report purchases in app stores.

import Domain
import Formats
import Partners

extension FuzzTarget {
  static let storePurchase = FuzzTarget("store-purchase", bytesMax: 32_768) { bytes in
    let purchase: StorePurchase
    do throws(StorePurchase.Fault) {
      purchase = try StorePurchase.read(bytes).purchase
    } catch {
      return
    }
    let id = purchase.key.id
    try hold(UntrustedText.identifier(id.text) == id.text, "an id that is not fit for a row")
    try hold(!Purchase.isErased(id), "an id that looks erased")
    let now = Timestamp(unixMilliseconds: 0)
    let known = Purchase(purchase.report(of: "jdo-1", at: now), reference: .counts, now: now)
    let content = try Join.content(of: known, ProcessorRules()).get().content
    let destination = PurchaselyDestination(PurchaselySettings(apiKey: "key", userAgent: "fuzz"))
    let sent = try JSONValue(parsing: destination.body(for: content))
    let again = try StorePurchase.read(
      sent.adding("platform", .string(purchase.platform.rawValue)).serialized())
    try hold(again.purchase == purchase, "what is sent is another purchase")
    try hold(again.users == ["jdo-1"], "what is sent names another user")
  }
}
