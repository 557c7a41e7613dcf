// The code in docs/ios.md equals the tested code.

import Foundation
import TestSupport
import Testing

@Suite struct GuideTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The Swift blocks of the guide that follow a comment `<!-- … -->`, by the comment's text.
  private static func blocks() throws -> [String: String] {
    let guide = try text("docs/ios.md")
    let pattern = #/<!-- (?<mark>[^\n]+) -->\n```swift\n(?<code>[\s\S]*?\n)```\n/#
    return Dictionary(
      uniqueKeysWithValues: guide.matches(of: pattern).map { (String($0.mark), String($0.code)) })
  }

  @Test(
    "The guide shows the compiled and tested sample's files",
    arguments: ["ShopRoute", "ShopModel", "SwedbankModel", "SwedbankPage", "CashAppModel"])
  func showsTheFiles(_ name: String) throws {
    let path = "Tests/CheckoutKitTests/Sample/\(name).swift"
    #expect(try Self.blocks()[path] == Self.text(path))
  }

  @Test(
    "The guide shows the files of the sample apps",
    arguments: ["Shop/ShopApp", "ShopUIKit/ShopDelegates", "ShopUIKit/PlainPaywall"])
  func showsTheApps(_ name: String) throws {
    let path = "kit-sample/ShopApp/\(name).swift"
    #expect(try Self.blocks()[path] == Self.text(path))
  }

  /// The compiler of the toolchain that built this test, if it is in PATH.
  static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(
    "The guide's views are Swift", .enabled(if: compiler != nil, "swiftc is not in the path"),
    arguments: [
      ("parsed: SwedbankPaySDK", ["MerchantBackendConfiguration", "paymentComplete", "paymentFailed"]),
      (
        "parsed: StoreKit",
        [
          "Storefront.current", "countryCode", "ExternalPurchaseLink.canOpen",
          "ExternalPurchaseCustomLink.isEligible", "showNotice(type: .browser)",
        ]
      ),
      ("parsed: PayKit", ["RedirectNotification", "readyToAuthorize", "order.cents", "order.brandID"]),
    ])
  func viewsParse(_ mark: String, _ words: [String]) throws {
    let views = try #require(Self.blocks()[mark])
    for word in words { #expect(views.contains(word)) }
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("checkout-kit-\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }  // A leftover file must not fail the test.
    try views.write(to: file, atomically: true, encoding: .utf8)
    let run = try ShellRun([
      try #require(Self.compiler), "-frontend", "-parse", "-swift-version", "6", "-parse-as-library",
      file.path,
    ])
    #expect(run.code == 0, "\(run.output)")
  }

  @Test("The guide imports only the kit, Apple's system frameworks and the SDKs of payment processors")
  func importsLittle() throws {
    let imports = try Set(
      Self.blocks().values.flatMap { $0.split(separator: "\n").filter { $0.hasPrefix("import ") } })
    #expect(
      imports == [
        "import CheckoutKit", "import Foundation", "import PayKit", "import StoreKit",
        "import SwedbankPaySDK",
        "import SwiftUI", "import UIKit", "import UserNotifications",
      ])
  }
}
