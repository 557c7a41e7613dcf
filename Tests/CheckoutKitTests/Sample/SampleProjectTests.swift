// The sample projects in kit-sample: the app is type-checked against declarations of Apple's frameworks, its
// project file refers to files that exist, and the property lists have the form that Apple documents.

import Foundation
import TestSupport
import Testing

@Suite struct SampleProjectTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func files(_ folder: String) throws -> [String] {
    let place = root.appendingPathComponent(folder)
    let found = FileManager.default.enumerator(atPath: place.path)?.compactMap { $0 as? String } ?? []
    return found.filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.sorted().map {
      place.appendingPathComponent($0).path
    }
  }

  private static func run(_ arguments: [String]) throws {
    let compiler = try #require(GuideTests.compiler)
    let run = try ShellRun([compiler, "-swift-version", "6", "-parse-as-library"] + arguments)
    try #require(run.code == 0, "\(run.output)")
  }

  @Test(.enabled(if: GuideTests.compiler != nil, "swiftc is not in the path"))
  func `The kit's views and the sample apps are type-checked`() throws {
    let modules = FileManager.default.temporaryDirectory.appendingPathComponent("stubs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: modules) }  // A leftover folder must not fail the test.
    func emit(_ module: String, _ files: [String], _ more: [String] = []) throws {
      let output = modules.appendingPathComponent("\(module).swiftmodule").path
      try Self.run(
        ["-emit-module", "-module-name", module, "-emit-module-path", output, "-I", modules.path] + more
          + files)
    }
    // Each after those that it imports.
    let stubs = [
      "SwiftUI", "UIKit", "UserNotifications", "PayKit", "SwedbankPaySDK", "SwedbankPaySDKMerchantBackend",
    ]
    for module in stubs {
      let stub = Self.root.appendingPathComponent("Tests/CheckoutKitTests/Stubs/\(module)Stub.swift").path
      try emit(module, [stub])
    }
    // The features that Package@swift-6.0.swift enables, and no warning.
    let features = ["ExistentialAny", "InternalImportsByDefault"].flatMap {
      ["-enable-upcoming-feature", $0]
    }
    let kit = try Self.files("Sources/CheckoutKit")
    try #require(kit.contains { $0.hasSuffix("View+Checkout.swift") })
    let symbols = modules.appendingPathComponent("symbols").path
    try emit(
      "CheckoutKit", kit,
      features + ["-warnings-as-errors", "-emit-symbol-graph", "-emit-symbol-graph-dir", symbols])
    try document(symbols: symbols)
    try Self.run(["-typecheck", "-I", modules.path, try Self.guide(in: modules)])
    func samples(_ names: [String], in folder: String = "Tests/CheckoutKitTests/Sample") -> [String] {
      names.map { Self.root.appendingPathComponent("\(folder)/\($0).swift").path }
    }
    // SW33, CA29: the screens with the SDKs of payment processors.
    try Self.run(
      ["-typecheck", "-module-name", "Screens", "-I", modules.path, "-warnings-as-errors"]
        + samples(["CashAppModel", "SwedbankModel"])
        + samples(["CashAppScreen", "SwedbankScreen"], in: "kit-sample/Screens"))
    let model = samples(["ShopModel", "ShopRoute"])
    for target in ["Shop", "ShopUIKit"] {
      let app = try Self.files("kit-sample/ShopApp/\(target)")
      try #require(!app.isEmpty)
      try Self.run(
        ["-typecheck", "-module-name", target, "-I", modules.path, "-warnings-as-errors"] + model + app)
    }
  }

  /// Builds the kit's documentation: a warning is a link that leads nowhere.
  private func document(symbols: String) throws {
    guard let docc = GuideTests.docc else { return }
    let catalogue = Self.root.appendingPathComponent("Sources/CheckoutKit/CheckoutKit.docc").path
    let run = try ShellRun([
      docc, "convert", catalogue, "--additional-symbol-graph-dir", symbols, "--output-path",
      "\(symbols).doccarchive", "--fallback-display-name", "CheckoutKit", "--fallback-bundle-identifier",
      "checkoutkit", "--warnings-as-errors",
    ])
    #expect(run.code == 0, "\(run.output)")
  }

  /// The first lines of docs/ios.md and the action of docs/identity.md, with what an app has. Purchasely's
  /// members are those of its SDK 6.0.0 (the framework's Purchasely.swiftinterface in
  /// https://github.com/Purchasely/Purchasely-iOS).
  private static func guide(in folder: URL) throws -> String {
    let lines = try GuideTests.firstLines().split(separator: "\n")
    let text =
      lines.filter { $0.hasPrefix("import ") }.joined(separator: "\n") + """

        enum PLYPresentationAction { case webCheckout }
        class PLYInterceptorInfo {}
        class PLYPresentationActionParameters {}
        enum PLYInterceptResult { case success, failed, notHandled }
        class Purchasely {
          static var anonymousUserId: String { "" }
          static func getBuiltInAttributes() -> [String: Any] { [:] }
          class func interceptAction(
            _ action: PLYPresentationAction,
            handler:
              @escaping (PLYInterceptorInfo, PLYPresentationActionParameters?) async -> PLYInterceptResult
          ) {}
        }
        enum Account {
          static var id: String? { nil }
          static func reloadEntitlements() async -> Bool { true }
        }
        @MainActor func begin(url: URL, account: Account.Type, paymentLink: URL) {
        \(lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n"))
        \(try GuideTests.action())
        }
        """
    let file = folder.appendingPathComponent("guide.swift")
    try Data(text.utf8).write(to: file)
    return file.path
  }

  private static func plist(_ path: String) throws -> [String: Any] {
    let data = try Data(contentsOf: root.appendingPathComponent(path))
    let plist = try unsafe PropertyListSerialization.propertyList(from: data, options: [], format: nil)
    return try #require(plist as? [String: Any], "\(path)")
  }

  @Test("The Xcode project is a property list whose objects refer to objects and files that exist")
  func project() throws {
    let path = "kit-sample/ShopApp/Shop.xcodeproj/project.pbxproj"
    let project = try Self.plist(path)
    let objects = try #require(project["objects"] as? [String: [String: Any]])
    let isID = { (text: String) in text.utf8.count == 24 && text.utf8.allSatisfy { $0 < 0x47 } }
    var references = [try #require(project["rootObject"] as? String)]
    for value in objects.values.flatMap(\.values) {
      let texts = (value as? [String]) ?? [value as? String].compactMap(\.self)
      references += texts.filter(isID)
    }
    #expect(Set(references) == Set(objects.keys), "each object is used, and each reference leads to one")
    #expect(objects.values.allSatisfy { $0["isa"] is String })

    let folder = Self.root.appendingPathComponent("kit-sample/ShopApp")
    var sources: Set<String> = []
    for group in objects.values where group["isa"] as? String == "PBXGroup" {
      let place = folder.appendingPathComponent(group["path"] as? String ?? ".")
      for child in group["children"] as? [String] ?? [] {
        guard let file = objects[child], file["isa"] as? String == "PBXFileReference",
          file["sourceTree"] as? String == "<group>"
        else { continue }
        let path = place.appendingPathComponent(try #require(file["path"] as? String)).standardizedFileURL
          .path
        #expect(FileManager.default.fileExists(atPath: path), "\(path)")
        if path.hasSuffix(".swift") { sources.insert(path) }
      }
    }
    #expect(try Set(Self.files("kit-sample/ShopApp")).isSubset(of: sources), "no file was forgotten")
    let package = objects.values.first { $0["isa"] as? String == "XCLocalSwiftPackageReference" }
    let place = folder.appendingPathComponent(try #require(package?["relativePath"] as? String))
    #expect(place.standardizedFileURL.path == Self.root.standardizedFileURL.path)
  }

  @Test("The samples' links are those of their model", arguments: ["Shop", "ShopUIKit"])
  @MainActor func links(_ target: String) throws {
    let folder = "kit-sample/ShopApp/\(target)"
    let types = try #require(try Self.plist("\(folder)/Info.plist")["CFBundleURLTypes"] as? [[String: Any]])
    #expect(types.first?["CFBundleURLSchemes"] as? [String] == [ShopModel.scheme])
    let domains = try Self.plist("\(folder)/\(target).entitlements")["com.apple.developer.associated-domains"]
    #expect((domains as? [String])?.contains { ShopModel.hosts.contains(String($0.dropFirst(9))) } == true)
  }

  /// https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
  @Test func `The sample with a background push has the background mode and the entitlement for it`() throws {
    let folder = "kit-sample/ShopApp/ShopUIKit"
    let modes = try Self.plist("\(folder)/Info.plist")["UIBackgroundModes"]
    #expect(modes as? [String] == ["remote-notification"])
    let environment = try Self.plist("\(folder)/ShopUIKit.entitlements")["aps-environment"]
    #expect(environment as? String == "development")
  }

  @Test func `The privacy manifest names data and purposes that Apple knows, and no tracking`() throws {
    let manifest = try Self.plist("Sources/CheckoutKit/PrivacyInfo.xcprivacy")
    #expect(manifest["NSPrivacyTracking"] as? Bool == false)
    #expect((manifest["NSPrivacyTrackingDomains"] as? [String])?.isEmpty == true)
    #expect((manifest["NSPrivacyAccessedAPITypes"] as? [Any])?.isEmpty == true)
    let types = try #require(manifest["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
    let prefix = "NSPrivacyCollectedDataType"
    let names = types.compactMap { ($0[prefix] as? String).map { String($0.dropFirst(prefix.count)) } }
    #expect(names == ["UserID", "PurchaseHistory", "ProductInteraction", "EmailAddress"])
    for type in types {
      #expect(Set(type.keys) == [prefix, "\(prefix)Linked", "\(prefix)Tracking", "\(prefix)Purposes"])
      #expect(type["\(prefix)Tracking"] as? Bool == false)
      let purposes = try #require(type["\(prefix)Purposes"] as? [String])
      #expect(Set(purposes).isSubset(of: ["\(prefix)PurposeAppFunctionality", "\(prefix)PurposeAnalytics"]))
      #expect(!purposes.isEmpty)
    }
  }

  /// APIs for which Apple requires a reason in the manifest, which lists none
  /// (https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api).
  @Test func `The kit uses no API that needs a reason in the privacy manifest`() throws {
    let names = [
      "UserDefaults", "systemUptime", "mach_absolute_time", "creationDate", "modificationDate",
      "contentModificationDateKey", "fileModificationDate", "volumeAvailableCapacity", "systemFreeSize",
      "activeInputModes", "statfs", "getattrlist",
    ]
    for file in try Self.files("Sources/CheckoutKit") {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      for name in names { #expect(!text.contains(name), "\(file): \(name)") }
    }
  }
}
