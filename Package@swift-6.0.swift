// swift-tools-version: 6.0
import PackageDescription

// CheckoutKit alone, for the Swift of Xcode 16 (6.0 and 6.1), which cannot read Package.swift: that builds the
// daemon and needs 6.2. SwiftPM chooses between the two by the version of its own tools.
let package = Package(
  name: "receipt-relay",
  platforms: [.iOS(.v13), .macOS(.v10_15), .tvOS(.v13), .watchOS(.v6)],
  products: [.library(name: "CheckoutKit", targets: ["CheckoutKit"])],
  targets: [
    .target(
      name: "CheckoutKit", resources: [.copy("PrivacyInfo.xcprivacy")],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
