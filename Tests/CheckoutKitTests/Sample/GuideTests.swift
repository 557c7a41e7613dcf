// The code in docs/ios.md is the tested code.

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

  @Test("The guide's excerpts are in the files that they name, which the tests compile")
  func showsTheFiles() throws {
    let blocks = try Self.blocks()
    #expect(blocks.count == 3)
    for (path, code) in blocks { #expect(try Self.text(path).contains(code), "\(path)") }
  }

  /// The compiler of the toolchain that built this test, if it is in PATH.
  static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(
    "The view for which there are no declarations here is Swift",
    .enabled(if: compiler != nil, "swiftc is not in the path"))
  func viewParses() throws {
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
