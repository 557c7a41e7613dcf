// swift-tools-version: 6.2
import PackageDescription

/// The house style that the compiler keeps: Swift 6, no implicit re-exports, no unmarked unsafe code, no
/// warnings.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  // Small functions of one target are compiled into another, as if they stood in it.
  // A release is the same in each folder that it is built in: its paths do not name the folder, debugging
  // information does not name the cached C modules, which have a hash of the folder in their names, and no
  // object has a hash of its input (.swift_modhash), by which the next build would know it again.
  .unsafeFlags(
    [
      "-cross-module-optimization", "-file-prefix-map", "\(Context.packageDirectory)=.", "-Xfrontend",
      "-no-clang-module-breadcrumbs", "-Xfrontend", "-disable-incremental-llvm-codegen",
    ],
    .when(configuration: .release)),
]

/// The same for CheckoutKit, which apps build with other toolchains and SDKs: a warning must not stop them,
/// and a package with unsafe flags could not be used at all. On Linux, where it is tested, it keeps to the
/// house.
let kit: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility", .when(platforms: [.linux])),
  .strictMemorySafety(.when(platforms: [.linux])),
  .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

/// How the programs are linked. A position-independent program has some 48,000 addresses to correct at each
/// start: listed as DT_RELR they take 10 KiB instead of 1.1 MiB (lld; glibc 2.36 of Debian 12, and later). No
/// library looks up a name in the programs, so they have no table of all names. The addresses of the C
/// libraries' functions are found at the start, and read-only from then on.
let compact: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "-z", "-Xlinker",
      "now", "-Xlinker", "--no-export-dynamic",
    ],
    .when(platforms: [.linux], configuration: .release))
]

#if os(Linux)
  // The tests' build needs no bundle for the privacy manifest.
  let kitManifest = (excluded: ["PrivacyInfo.xcprivacy"], resources: [Resource]())
#else
  let kitManifest = (excluded: [String](), resources: [Resource.copy("PrivacyInfo.xcprivacy")])
#endif

/// The commit and its date, which a release shows with `--version`. deploy/dev/build sets both; they are not
/// asked of Git here, because the result would be kept after the next commit.
let origin: [CSetting] = ["SOURCE_COMMIT", "SOURCE_DATE"].compactMap { name in
  Context.environment[name].map { .define(name, to: $0, .when(configuration: .release)) }
}

/// C code of a release names no folder, either.
let anyFolder: CSetting = .unsafeFlags(
  ["-ffile-prefix-map=\(Context.packageDirectory)=."], .when(configuration: .release))

/// The targets that the tests spend most of their time in. They are optimized in a debug build, too: their
/// loops over bytes and rows take several times as long otherwise, and the tests a third longer. Not under a
/// sanitizer: in optimized functions it sees the standard library set the length of its shared empty array to
/// 0, which it is already, and reports a race. `deploy/dev/sanitize` sets the variable.
let optimized: Set =
  Context.environment["SANITIZER"] != nil
  ? []
  : [
    "Encoding", "JSON", "AppLinks", "Platform", "SQLite", "PostgreSQL", "Domain", "Store", "SQLiteStore",
    "PostgresStore", "Configuration", "Housekeeping", "TidyTests",
  ]

func settings(_ name: String) -> [SwiftSetting] {
  optimized.contains(name) ? house + [.unsafeFlags(["-O"], .when(configuration: .debug))] : house
}

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings(name))
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: house, linkerSettings: compact)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, exclude: exclude, resources: resources,
    swiftSettings: settings(name))
}

/// What every part of the service is made with.
let parts: [Target.Dependency] = [
  "Durations", "Platform", "Domain", "Store", "Presentation", "Telemetry", "Persistence",
]

/// The whole service, for the tests of its parts.
let service: [Target.Dependency] = [
  "Durations", "Telemetry", "Configuration", "Health", "Persistence", "HTTPService", "Apps", "Delivery",
  "Lookups",
  "Housekeeping", "Alerts", "Intake", "PublicPages", "Dashboard", "Relay",
]

/// What the fuzzing tests and the fuzzer are made of.
let fuzzed: [Target.Dependency] =
  service + [
    "Encoding", "JSON", "AppLinks", "Platform", "Cryptography", "HTTPServer", "HTTPClient", "Domain",
    "Processors", "Destinations", "JSONWebToken", "Store", "SQLiteStore", "Terminal", "Operator",
    "Compression",
  ]

// Arrows point downwards only: a target names nothing that stands below it in this list.
let package = Package(
  name: "receipt-relay",
  // Where CheckoutKit may run. The daemon is for Linux.
  platforms: [.iOS(.v13), .macOS(.v10_15), .tvOS(.v13), .watchOS(.v6)],
  products: [
    .library(name: "CheckoutKit", targets: ["CheckoutKit"]),
    .executable(name: "receiptd", targets: ["receiptd"]),
    .executable(name: "receiptctl", targets: ["receiptctl"]),
  ],
  dependencies: [],
  targets: [
    // C libraries, each imported by its wrapper alone.
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CTimex"),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    // Not linked: it loads libpq when a database needs it.
    .target(name: "CPostgreSQL", cSettings: [anyFolder]),
    // What the programs were built from.
    .target(name: "CBuild", cSettings: origin + [anyFolder]),

    // The app's side. It knows nothing of the daemon's targets, and none of them knows it.
    .target(
      name: "CheckoutKit", exclude: kitManifest.excluded, resources: kitManifest.resources,
      swiftSettings: kit),

    // Wrappers and small foundations.
    library("Encoding"),
    library("Durations"),
    library("JSON"),
    library("AppLinks", ["Encoding", "JSON"]),
    library("HTML", ["Encoding", "AppLinks"]),
    library("Platform", ["CBuild", "CMalloc", "CTimex", "Durations", "JSON"]),
    library("Cryptography", ["CCrypto", "Platform"]),
    library("Compression", ["CZstd", "Platform"]),
    library("QRCode", ["CQREncode"]),
    library("SQLite", ["CSQLite", "Durations"]),
    library("PostgreSQL", ["CPostgreSQL", "Durations", "Platform"]),
    library("HTTPServer", ["CMicroHTTPD", "Durations", "Platform"]),
    library("HTTPClient", ["CCurl", "Cryptography", "Durations", "Platform"]),

    // The job itself.
    library("Domain", ["Durations"]),
    library("Processors", ["Durations", "Domain", "Cryptography", "Encoding", "JSON"]),
    library("Destinations", ["Platform", "Domain", "Cryptography", "Encoding", "JSON"]),
    library("JSONWebToken", ["Domain", "Cryptography", "Encoding", "JSON"]),
    .target(
      name: "Migrations", path: "migrations",
      resources: [
        .embedInCode("sqlite/v0001_initial.sql"), .embedInCode("sqlite/v0002_operations.sql"),
        .embedInCode("sqlite/v0003_truth.sql"), .embedInCode("sqlite/v0004_operators.sql"),
        .embedInCode("sqlite/v0005_hardening.sql"),
        .embedInCode("postgres/v0001_receipts.sql"),
        .embedInCode("postgres/v0002_service.sql"), .embedInCode("postgres/v0003_instances.sql"),
        .embedInCode("postgres/v0004_copies.sql"), .embedInCode("postgres/v0005_operators.sql"),
        .embedInCode("postgres/v0006_hardening.sql"),
      ],
      swiftSettings: house),
    library("Store", ["Durations", "Platform", "JSON", "Domain", "Cryptography", "Compression"]),
    library("SQLiteStore", ["Platform", "Domain", "SQLite", "Store", "Migrations"]),
    library(
      "PostgresStore", ["Durations", "Platform", "JSON", "Domain", "PostgreSQL", "Store", "Migrations"]),
    library(
      "Presentation", ["Durations", "Platform", "Encoding", "JSON", "HTTPClient", "Domain", "Store"]),
    library("Telemetry", ["Durations", "Platform", "HTTPServer", "Domain", "Store", "Presentation"]),

    // From the file to values; which apps there are.
    library(
      "Configuration",
      [
        "Durations", "Platform", "Encoding", "JSON", "AppLinks", "Cryptography", "Domain", "Processors",
        "Destinations", "JSONWebToken", "Presentation", "HTML",
      ]),
    library("Health", ["Platform", "JSON", "Domain", "Store", "Presentation", "Configuration", "Telemetry"]),
    library("Persistence", ["Platform", "Domain", "Store", "Presentation", "Telemetry", "Health"]),
    library(
      "Apps",
      [
        "Cryptography", "HTTPClient", "Domain", "Processors", "Destinations", "JSONWebToken", "Store",
        "Configuration", "Telemetry", "Platform", "Presentation",
      ]),

    library(
      "HTTPService",
      ["Platform", "Encoding", "JSON", "HTTPServer", "Domain", "Telemetry", "Persistence", "Apps"]),

    // Parts of the service. They do not know each other: they meet in values and small protocols.
    library("Delivery", parts + ["HTTPClient", "Destinations", "Apps"]),
    library("Lookups", parts + ["HTTPClient", "Processors", "Apps"]),
    library("Housekeeping", parts + ["Encoding", "JSON", "Compression", "Configuration"]),
    library(
      "Alerts",
      parts + ["HTTPClient", "JSON", "Cryptography", "Destinations", "Health", "Configuration"]),
    library(
      "Intake",
      parts + [
        "Encoding", "JSON", "Cryptography", "HTTPServer", "HTTPClient", "HTTPService", "Processors",
        "Destinations", "JSONWebToken", "Apps", "Configuration",
      ]),
    library(
      "PublicPages",
      [
        "Durations", "Platform", "Encoding", "AppLinks", "HTML", "Cryptography", "QRCode", "HTTPServer",
        "HTTPService", "Domain", "Store", "Apps", "Configuration",
      ]),
    library(
      "Dashboard",
      parts + [
        "Encoding", "JSON", "HTML", "Cryptography", "Health", "HTTPServer", "HTTPService", "Apps",
        "Configuration",
      ]),

    // The whole daemon.
    library(
      "Relay",
      parts + [
        "JSON", "HTTPServer", "HTTPClient", "Cryptography", "HTTPService", "Health", "SQLiteStore",
        "PostgresStore", "Configuration", "Apps",
        "Delivery", "Lookups", "Housekeeping", "Alerts", "Intake", "PublicPages", "Dashboard",
      ]),

    // What people touch.
    library("Terminal", ["Durations", "Platform", "JSON"]),
    library(
      "Sandbox",
      ["Durations", "Platform", "Encoding", "JSON", "HTML", "Cryptography", "HTTPServer", "HTTPClient"]),
    library("DaemonCommand", ["Telemetry", "Terminal", "Configuration", "Relay"]),
    program(
      "receiptd",
      ["Durations", "Platform", "Domain", "Telemetry", "Terminal", "Configuration", "Relay", "DaemonCommand"]),
    library(
      "Operator",
      [
        "Durations", "Platform", "Encoding", "JSON", "AppLinks", "Cryptography", "HTTPServer", "HTTPClient",
        "Domain", "Processors", "Destinations", "Store", "SQLiteStore", "PostgresStore", "Presentation",
        "Telemetry", "Configuration",
        "Health", "Apps", "Alerts", "Housekeeping", "Terminal", "Relay", "Sandbox", "DaemonCommand",
      ]),
    program("receiptctl", ["Platform", "Terminal", "Operator"]),

    // What several test targets need.
    .target(
      name: "TestSupport",
      dependencies: [
        "Durations", "Platform", "Encoding", "JSON", "SQLite", "PostgreSQL", "Cryptography", "Domain",
        "Processors", "Destinations", "Store", "SQLiteStore",
      ],
      path: "Tests/TestSupport",
      swiftSettings: house),
    .target(
      name: "SimulatedDisk", dependencies: ["CSQLite", "Platform"], path: "Tests/SimulatedDisk",
      swiftSettings: house),

    // Tests mirror the sources.
    tests("CheckoutKitTests", ["CheckoutKit", "HTTPServer", "TestSupport"], exclude: ["Stubs"]),
    tests("EncodingTests", ["Encoding"]),
    tests("JSONTests", ["JSON", "Platform"]),
    tests("HTMLTests", ["HTML", "AppLinks"]),
    tests("AppLinksTests", ["AppLinks", "Encoding", "JSON", "Platform"]),
    tests("PlatformTests", ["Durations", "Platform", "JSON", "TestSupport"]),
    tests("CryptographyTests", ["Cryptography", "Encoding", "Platform", "TestSupport"]),
    tests("CompressionTests", ["Compression"]),
    tests("QRCodeTests", ["QRCode"]),
    tests("SQLiteTests", ["SQLite"]),
    tests("PostgreSQLTests", ["PostgreSQL", "Platform", "TestSupport"]),
    tests("HTTPServerTests", ["Durations", "HTTPServer", "Platform", "TestSupport"]),
    tests("HTTPClientTests", ["Durations", "HTTPClient", "Platform", "TestSupport"]),
    tests("DomainTests", ["Durations", "Domain", "Platform", "TestSupport"]),
    tests(
      "ProcessorsTests",
      [
        "Durations", "Processors", "Domain", "Platform", "Cryptography", "Encoding", "JSON", "Configuration",
        "TestSupport",
      ],
      resources: [.embedInCode("Fixtures")]),
    tests(
      "DestinationsTests",
      [
        "Durations", "Destinations", "Domain", "Encoding", "JSON", "Processors", "Configuration",
        "TestSupport",
      ]),
    tests(
      "JSONWebTokenTests",
      ["JSONWebToken", "Domain", "Cryptography", "Encoding", "JSON", "Platform", "TestSupport"]),
    tests("ConfigurationTests", ["Configuration", "JSON", "Platform", "TestSupport"]),
    tests(
      "StoreTests",
      [
        "Durations", "Store", "SQLiteStore", "PostgresStore", "JSON", "Domain", "SQLite", "PostgreSQL",
        "Migrations", "Platform", "Compression", "TestSupport",
      ]),
    tests(
      "RelayTests",
      service + [
        "Presentation", "Domain", "Encoding", "JSON", "AppLinks", "Platform", "HTTPServer", "HTTPClient",
        "Store", "SQLiteStore", "SQLite", "Processors", "Destinations", "HTML", "JSONWebToken",
        "Cryptography", "QRCode", "TestSupport",
      ]),
    tests(
      "EndToEndTests",
      [
        "HTTPServer", "HTTPClient", "Durations", "Platform", "Encoding", "JSON", "Cryptography", "Domain",
        "SQLite",
        "Store", "SQLiteStore", "Sandbox", "TestSupport", "CheckoutKit", "receiptd", "receiptctl",
      ]),
    tests(
      "ReliabilityTests",
      service + [
        "Presentation", "Store", "SQLiteStore", "Migrations", "SQLite", "Domain", "Platform", "Encoding",
        "JSON", "Processors", "Destinations", "Compression",
        "Cryptography", "HTTPClient", "HTTPServer", "JSONWebToken", "Sandbox", "SimulatedDisk", "TestSupport",
        "receiptd", "receiptctl",
      ], exclude: ["Fixtures"]),
    tests("TerminalTests", ["Terminal", "JSON", "Platform"]),
    tests(
      "SandboxTests",
      [
        "Durations", "Sandbox", "Encoding", "JSON", "Cryptography", "HTTPServer", "HTTPClient", "Platform",
        "Processors", "Destinations", "Domain", "TestSupport",
      ]),
    tests(
      "OperatorTests",
      service + [
        "Operator", "Sandbox", "Terminal", "Store", "SQLiteStore", "SQLite", "PostgresStore", "PostgreSQL",
        "Domain", "JSON", "Platform", "AppLinks", "Cryptography", "Presentation", "TestSupport", "HTTPServer",
      ],
      exclude: ["Snapshots"]),
    tests("FuzzTests", fuzzed + ["TestSupport"], exclude: ["Fuzzer", "Corpus", "Dictionaries"]),
    // The rules of the house, over the files of the repository. Needs receiptctl, to ask it for its verbs.
    tests("TidyTests", ["Configuration", "Telemetry", "Relay", "Platform", "TestSupport", "receiptctl"]),
  ],
  swiftLanguageModes: [.v6]
)

// The short form of the sanitizers (`deploy/dev/sanitize --short`): the suites of code that has threads, calls C or is
// marked unsafe. Of the other suites nothing is built.
if Context.environment["SANITIZER_SUITES"] == "short" {
  let suites: Set = [
    "PlatformTests", "JSONTests", "CryptographyTests", "CompressionTests", "QRCodeTests", "SQLiteTests",
    "PostgreSQLTests", "HTTPServerTests", "HTTPClientTests", "StoreTests", "RelayTests", "CheckoutKitTests",
  ]
  package.targets.removeAll { $0.type == .test && !suites.contains($0.name) }
}

// libFuzzer's program (`make fuzz`). libFuzzer has its main function, so no other build knows it.
if Context.environment["FUZZ"] == "1" {
  package.targets.removeAll { $0.name == "FuzzTests" }
  package.targets.append(
    .executableTarget(
      name: "Fuzzer", dependencies: fuzzed, path: "Tests/FuzzTests",
      exclude: ["Corpus", "Dictionaries", "FuzzCorpusTorture.swift", "Mutation.swift"],
      sources: ["Targets", "Fuzzer"],
      swiftSettings: house))
}

#if !os(Linux)
  // Apps are built on Macs, which do not have the daemon's C libraries: there the package is CheckoutKit alone,
  // so nothing looks for them. Package@swift-6.0.swift is the same for older compilers.
  package.products.removeAll { $0.name != "CheckoutKit" }
  package.targets.removeAll { $0.name != "CheckoutKit" }
#endif
