// The code of the apps' pages is that of the samples, which are compiled or run.

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

  @Test(
    "A page's excerpts are in the files that they name",
    arguments: [
      ("ios", "swift", 3), ("android", "kotlin", 2), ("react-native", "js", 1), ("flutter", "dart", 2),
      ("capacitor", "js", 1), ("http-api", "swift", 1),
    ])
  func showsTheFiles(_ page: String, _ language: String, count: Int) throws {
    let guide = try Self.text("docs/\(page).md")
    let pattern = #/<!-- (?<path>[^\n]+) -->\n```(?<language>\w+)\n(?<code>[\s\S]*?\n)```\n/#
    let excerpts = guide.matches(of: pattern).filter { $0.language == language }
    #expect(excerpts.count == count)
    for excerpt in excerpts {
      #expect(try Self.text(String(excerpt.path)).contains(excerpt.code), "\(excerpt.path)")
    }
  }

  private static func unindented(_ path: String) throws -> String {
    try text(path).split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
  }

  /// The code of the iOS guide's beginning, which is type-checked.
  static func firstLines(of page: String = "docs/ios.md") throws -> String {
    String(try #require(try text(page).firstMatch(of: #/```swift\n([\s\S]*?)```/#)).1)
  }

  /// The code for Purchasely's action on the page about users, which is type-checked.
  static func action() throws -> String {
    let page = try text("docs/identity.md")
    return String(try #require(page.firstMatch(of: #/`(Purchasely\.interceptAction\(\.[^`]+)`/#)).1)
  }

  @Test(
    "The catalogue's article has the guide's first lines, and each step of its tutorial is a sample's code")
  func catalogue() throws {
    let catalogue = "Sources/CheckoutKit/CheckoutKit.docc"
    #expect(try Self.firstLines(of: "\(catalogue)/FirstLines.md") == Self.firstLines())
    let steps = try Self.text("\(catalogue)/SellInTheBrowser.tutorial")
      .matches(of: #/@Code\(name: "(?<sample>[^"]+)", file: (?<step>\S+),/#)
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appendingPathComponent(catalogue).path)
    #expect(Set(steps.map { String($0.step) }) == Set(files.filter { $0.hasSuffix(".swift") }))
    for step in steps {
      let code = try Self.unindented("\(catalogue)/\(step.step)")
      #expect(try Self.unindented(String(step.sample)).contains(code), "\(step.step)")
    }
  }

  static let node = executable("node")

  @Test(.enabled(if: node != nil, "node is not in the path"))
  func `The session for JavaScript passes its tests`() throws {
    let tests = Self.root.appendingPathComponent("kit-sample/JavaScript/session.test.js").path
    let run = try ShellRun([try #require(Self.node), "--test", tests])
    #expect(run.code == 0, "\(run.output)")
  }

  private static func executable(_ name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static let docc = executable("docc")

  /// The compiler of the toolchain that built this test, if it is in PATH.
  static let compiler = executable("swiftc")

  @Test(.enabled(if: compiler != nil, "swiftc is not in the path"))
  func `The view for which there are no declarations here is Swift`() throws {
    let path = "kit-sample/Screens/WebLink.swift"
    let view = try Self.text(path)
    for word in [
      "Storefront.current", "countryCode", "ExternalPurchaseLink.canOpen",
      "ExternalPurchaseCustomLink.isEligible", "showNotice(type: .browser)",
    ] {
      #expect(view.contains(word))
    }
    let run = try ShellRun([
      try #require(Self.compiler), "-frontend", "-parse", "-swift-version", "6", "-parse-as-library",
      Self.root.appendingPathComponent(path).path,
    ])
    #expect(run.code == 0, "\(run.output)")
  }
}
