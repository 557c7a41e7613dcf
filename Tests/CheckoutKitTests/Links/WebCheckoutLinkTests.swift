// `scheme://web_checkout/?plan_id=…`, read strictly and printed.

import CheckoutKit
import Foundation
import Testing

@Suite struct WebCheckoutLinkTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let url: String
    let plan: String?
    var fault: WebCheckoutLink.Fault?

    init(_ url: String, plan: String) { (self.url, self.plan) = (url, plan) }
    init(_ url: String, _ fault: WebCheckoutLink.Fault) { (self.url, plan, self.fault) = (url, nil, fault) }

    var testDescription: String { url }
  }

  static let cases = [
    Case("shop://web_checkout/?plan_id=stripe.yearly_42", plan: "stripe.yearly_42"),
    Case("shop://web_checkout?plan_id=price_2", plan: "price_2"),
    Case("SHOP://web_checkout/?plan_id=price_2", plan: "price_2"),
    Case("shop://web%5Fcheckout/?plan_id=price_2", plan: "price_2"),
    Case("shop://web_checkout/?a=b&plan_id=x&plan_id=y", plan: "x"),
    Case("shop://web_checkout/?bad=%FF&plan_id=x", plan: "x"),
    Case("shop://web_checkout/?plan%5Fid=x", plan: "x"),
    Case("shop://web_checkout/?plan_id=a%20b%2Bc+d%26e%3Df", plan: "a b+c+d&e=f"),
    Case("shop://web_checkout/?plan_id=a=b", plan: "a=b"),
    Case("shop://web_checkout/?plan_id=%C3%A9", plan: "é"),
    // Foundation repairs a broken escape: the percent sign becomes literal.
    Case("shop://web_checkout/?plan_id=%G1", plan: "%G1"),
    Case("shop://web_checkout/?plan_id=x#part", plan: "x"),
    Case(
      "shop://web_checkout/?plan_id=\(String(repeating: "p", count: 255))",
      plan: String(repeating: "p", count: 255)),

    Case("shop://web_checkout/?plan_id=", .missingPlan),
    Case("shop://web_checkout/?plan_id", .missingPlan),
    Case("shop://web_checkout/?plan_id=&plan_id=b", .missingPlan),
    Case("shop://web_checkout/?PLAN_ID=x", .missingPlan),
    Case("shop://web_checkout/", .missingPlan),
    Case("shop://web_checkout/#?plan_id=x", .missingPlan),
    Case("shop://web_checkout/?plan_id=%00", .unusablePlan),
    Case("shop://web_checkout/?plan_id=a%0D%0Ab", .unusablePlan),
    Case("shop://web_checkout/?plan_id=a%7F", .unusablePlan),
    Case("shop://web_checkout/?plan_id=a%C2%85", .unusablePlan),
    Case("shop://web_checkout/?plan_id=%FF", .unusablePlan),
    Case("shop://web_checkout/?plan_id=\(String(repeating: "p", count: 256))", .unusablePlan),
    Case("shop://me@web_checkout/?plan_id=x", .otherPlace),
    Case("shop://web_checkout:1/?plan_id=x", .otherPlace),
    Case("shop://web_checkout/more?plan_id=x", .otherPlace),
    Case("shop://web_checkout//?plan_id=x", .otherPlace),
    Case("shop:///web_checkout?plan_id=x", .otherPlace),
    Case("shop:web_checkout?plan_id=x", .otherPlace),
    Case("shop://web_checkout.evil.test/?plan_id=x", .otherPlace),
    Case("shop://WEB_CHECKOUT/?plan_id=x", .otherPlace),
    Case("shop://evil.test/web_checkout/?plan_id=x", .otherPlace),
    Case("other://web_checkout/?plan_id=x", .foreignScheme),
    Case("https://web_checkout/?plan_id=x", .foreignScheme),
    Case("//web_checkout/?plan_id=x", .foreignScheme),
  ]

  @Test("PL01: a link to a web checkout is read strictly, and every refusal says why", arguments: cases)
  func reads(_ item: Case) throws {
    // A web scheme is never the app's, even if the app lists it.
    let result = WebCheckoutLink.parse(try url(item.url), schemes: ["Shop", "https"])
    switch result {
    case .success(let link): #expect(link.planID == item.plan)
    case .failure(let fault): #expect(fault == item.fault)
    }
    #expect(WebCheckoutLink(try url(item.url), schemes: ["Shop", "https"])?.planID == item.plan)
  }

  @Test("A printed link is read as the same one", arguments: ["price_1", "a b+c&d=e#f?g/h%é", "%ZZ", "+"])
  func printsAndReads(_ plan: String) throws {
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
