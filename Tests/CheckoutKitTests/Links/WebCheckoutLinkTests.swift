// `scheme://web_checkout/?plan_id=…`, read strictly and printed.

import CheckoutKit
import Foundation
import Testing

@Suite struct WebCheckoutLinkTests {
  @Test(
    "PL01: a link to a web checkout is read as all kits read it, and every refusal says why",
    arguments: try KitTables.links().links)
  func reads(_ row: KitTables.Link) throws {
    // A web scheme is never the app's, even if the app lists it.
    let schemes: Set<String> = ["ExampleApp", "https"]
    switch WebCheckoutLink.parse(try url(row.url), schemes: schemes) {
    case .success(let link): #expect(link.planID == row.plan)
    case .failure(let fault):
      #expect(row.plan == nil)
      // A link of another kind fails for any reason.
      if let expected = row.fault { #expect("\(fault)" == expected) }
    }
    #expect(WebCheckoutLink(try url(row.url), schemes: schemes)?.planID == row.plan)
  }

  @Test(
    "A plan has 255 bytes at most; Foundation makes the percent sign of a broken escape literal")
  func longAndBroken() throws {
    let longest = String(repeating: "p", count: 255)
    for (text, plan) in [(longest, longest), (longest + "p", nil), ("%G1", "%G1")] as [(String, String?)] {
      let link = try url("shop://web_checkout/?plan_id=\(text)")
      #expect(WebCheckoutLink(link, schemes: ["Shop"])?.planID == plan)
    }
  }

  @Test(arguments: ["price_1", "a b+c&d=e#f?g/h%é", "%ZZ", "+"])
  func `A printed link is read as the same one`(_ plan: String) throws {
    let link = try #require(WebCheckoutLink(planID: plan))
    let printed = try #require(link.url(scheme: "shop"))
    #expect(printed.absoluteString.hasPrefix("shop://web_checkout/?plan_id="))
    #expect(WebCheckoutLink(printed, schemes: ["shop"]) == link)
    #expect(link.url(scheme: "no scheme") == nil)
  }

  @Test(
    "A value that a link cannot carry is not printed",
    arguments: ["", "a\nb", "\0", String(repeating: "x", count: 256)])
  func printsNoNonsense(_ plan: String) { #expect(WebCheckoutLink(planID: plan) == nil) }
}
