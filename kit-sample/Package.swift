// swift-tools-version: 6.0
import PackageDescription

// A separate package that depends on CheckoutKit, as an app does. Yours names the repository's URL in place of
// the path: .package(url: "https://git.example.com/receipt-relay", from: "1.0.0"), or branch: "main" if the
// repository has no tag yet.
let package = Package(
  name: "kit-sample",
  platforms: [.macOS(.v12)],
  dependencies: [.package(name: "receipt-relay", path: "..")],
  targets: [
    .executableTarget(
      name: "CheckoutShop", dependencies: [.product(name: "CheckoutKit", package: "receipt-relay")])
  ],
  swiftLanguageModes: [.v6]
)
