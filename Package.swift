// swift-tools-version: 6.2
import PackageDescription

/// Under the address sanitizer code also counts its branches, by which libFuzzer finds its way: so the fuzzer is
/// built from the objects of the sanitized suites.
let covered: [SwiftSetting] =
  Context.environment["SANITIZER"] == "address"
  ? [.unsafeFlags(["-sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table"])] : []

/// The house style that the compiler keeps: Swift 6, no implicit re-exports, no unmarked unsafe code, no
/// warnings.
let house: [SwiftSetting] =
  [
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
  ] + covered

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
    "Formats", "Platform", "Domain", "Store", "SQLiteStore", "PostgresStore", "Config", "Upkeep", "TidyTests",
  ]

func settings(_ name: String) -> [SwiftSetting] {
  optimized.contains(name) ? house + [.unsafeFlags(["-O"], .when(configuration: .debug))] : house
}

/// - Parameters:
///   - room: the folder below `Sources`.
///   - exclude: folders of it that are other targets.
///   - resources: files that are compiled in.
func library(
  _ name: String, in room: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
  resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(room)", exclude: exclude, resources: resources,
    swiftSettings: settings(name))
}

/// A C library, which its wrapper alone imports.
func shim(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/Support/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
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

/// Wrappers, formats, and the values and rules of the job.
let foundations: [Target.Dependency] = [
  "Platform", "Formats", "Cryptography", "HTTPServer", "HTTPClient", "Domain", "Partners", "Store",
]

/// The whole service, for the tests of its parts.
let service: [Target.Dependency] =
  foundations + ["SQLiteStore", "PostgresStore", "Reports", "Config", "Service", "Upkeep", "Web", "Daemon"]

/// What the fuzzing tests and the fuzzer are made of.
let fuzzed: [Target.Dependency] = service + ["Terminal", "CLI"]

// Arrows point downwards only: a target names nothing that stands below it in this list.
let package = Package(
  name: "receipt-relay",
  // Where CheckoutKit may run. The daemon is for Linux.
  platforms: [.iOS(.v13), .macOS(.v10_15), .tvOS(.v13), .watchOS(.v6)],
  products: [
    .library(name: "CheckoutKit", targets: ["CheckoutKit"]),
    .executable(name: "receiptd", targets: ["receiptd"]),
    .executable(name: "receiptctl", targets: ["receiptctl"]),
    .executable(name: "receipt-sandbox", targets: ["receipt-sandbox"]),
  ],
  dependencies: [],
  targets: [
    // C libraries, each imported by its wrapper alone.
    shim("CSQLite", "sqlite3", "libsqlite3-dev"),
    shim("CCurl", "libcurl", "libcurl4-openssl-dev"),
    shim("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
    shim("CCrypto", "libcrypto", "libssl-dev"),
    shim("CZstd", "libzstd", "libzstd-dev"),
    shim("CQREncode", "libqrencode", "libqrencode-dev"),
    // Not linked: it loads libpq when a database needs it.
    .target(name: "CPostgreSQL", path: "Sources/Support/C/CPostgreSQL", cSettings: [anyFolder]),
    // What Swift's Glibc module leaves out, and what the programs were built from.
    .target(name: "CLibC", path: "Sources/Support/C/CLibC", cSettings: origin + [anyFolder]),

    // The app's side. It knows nothing of the daemon's targets, and none of them knows it.
    .target(
      name: "CheckoutKit", exclude: kitManifest.excluded, resources: kitManifest.resources,
      swiftSettings: kit),

    // Wrappers and formats.
    library("Formats", in: "Support/Formats"),
    library("Platform", in: "Support/Platform", ["CLibC", "Formats"]),
    library("Cryptography", in: "Support/Cryptography", ["CCrypto", "Platform", "Formats"]),
    library("HTTPServer", in: "Support/HTTPServer", ["CMicroHTTPD", "Formats", "Platform"]),
    library("HTTPClient", in: "Support/HTTPClient", ["CCurl", "Cryptography", "Formats", "Platform"]),
    library("Terminal", in: "Support/Terminal", ["Platform", "Formats"]),

    // The job itself: values and rules; what is particular to each processor and destination; what is stored.
    library("Domain", in: "Domain", ["Formats"]),
    library("Partners", in: "Partners", ["Platform", "Domain", "Cryptography", "Formats"]),
    .target(
      name: "Migrations", path: "migrations",
      resources: [
        .embedInCode("sqlite/v0001_sqlite.sql"), .embedInCode("sqlite/v0002_sqlite.sql"),
        .embedInCode("sqlite/v0003_sqlite.sql"),
        .embedInCode("postgres/v0001_postgres.sql"), .embedInCode("postgres/v0002_postgres.sql"),
        .embedInCode("postgres/v0003_postgres.sql"),
      ],
      swiftSettings: house),
    library(
      "Store", in: "Store", ["CZstd", "Platform", "Formats", "Domain", "Cryptography"],
      exclude: ["SQLite", "Postgres"], resources: [.embedInCode("Bodies/Dictionaries")]),
    library(
      "SQLiteStore", in: "Store/SQLite", ["CSQLite", "Formats", "Platform", "Domain", "Store", "Migrations"]),
    library(
      "PostgresStore", in: "Store/Postgres",
      ["CPostgreSQL", "Platform", "Formats", "Domain", "Store", "Migrations"]),

    // What people read, and what they configure.
    library("Reports", in: "Reports", ["Platform", "Formats", "HTTPClient", "Domain", "Store"]),
    library(
      "Config", in: "Config", ["Platform", "Formats", "Cryptography", "Domain", "Partners", "Reports"]),

    // What every part of the service is made with; receiptctl uses it, too.
    library(
      "Service", in: "Daemon/Service",
      foundations + ["SQLiteStore", "PostgresStore", "Reports", "Config", "Terminal"]),
    library("Upkeep", in: "Daemon/Upkeep", foundations + ["SQLiteStore", "Reports", "Config", "Service"]),
    library(
      "Web", in: "Web", foundations + ["CQREncode", "Reports", "Config", "Service"],
      resources: [.embedInCode("ReturnPage/Languages")]),
    library(
      "Daemon", in: "Daemon",
      foundations + ["SQLiteStore", "PostgresStore", "Reports", "Config", "Service", "Upkeep", "Web"],
      exclude: ["Service", "Upkeep"]),
    program("receiptd", ["Platform", "Formats", "Domain", "Terminal", "Config", "Service", "Daemon"]),

    // What operators touch. It does not know the daemon.
    library(
      "CLI", in: "CLI",
      foundations + ["SQLiteStore", "PostgresStore", "Reports", "Config", "Service", "Upkeep", "Terminal"]),
    program("receiptctl", ["Platform", "Terminal", "CLI"]),

    // The stand-ins, which know nothing of the relay, and the program that runs them.
    .target(
      name: "Sandbox", dependencies: ["Platform", "Formats", "Cryptography", "HTTPServer", "HTTPClient"],
      path: "Tools/Sandbox", swiftSettings: house),
    .executableTarget(
      name: "receipt-sandbox",
      dependencies: [
        "Platform", "Formats", "HTTPServer", "HTTPClient", "Terminal", "Domain", "Config", "Sandbox",
      ], path: "Tools/receipt-sandbox", swiftSettings: house, linkerSettings: compact),

    // What several test targets need.
    .target(
      name: "TestSupport", dependencies: foundations + ["SQLiteStore", "PostgresStore"],
      path: "Tests/TestSupport", swiftSettings: house),
    .target(
      name: "SimulatedDisk", dependencies: ["CSQLite", "Platform"], path: "Tests/SimulatedDisk",
      swiftSettings: house),

    // Tests mirror the sources.
    tests("CheckoutKitTests", ["CheckoutKit", "HTTPServer", "TestSupport"], exclude: ["Stubs"]),
    tests("FormatsTests", ["Formats", "Platform"]),
    tests("PlatformTests", ["Platform", "Formats", "TestSupport"]),
    tests("CryptographyTests", ["Cryptography", "Formats", "Platform", "TestSupport"]),
    tests("HTTPServerTests", ["HTTPServer", "Formats", "Platform", "TestSupport"]),
    tests("HTTPClientTests", ["HTTPClient", "Formats", "Platform", "TestSupport"]),
    tests("DomainTests", ["Domain", "Formats", "Platform", "TestSupport"]),
    tests(
      "PartnersTests", foundations + ["Config", "TestSupport"],
      resources: [.embedInCode("Processors/Fixtures")]),
    tests("ConfigTests", ["Config", "Formats", "Platform", "TestSupport"]),
    tests("StoreTests", foundations + ["SQLiteStore", "PostgresStore", "Migrations", "TestSupport"]),
    tests("DaemonTests", service + ["TestSupport"]),
    tests(
      "EndToEndTests",
      foundations + [
        "SQLiteStore", "Sandbox", "TestSupport", "CheckoutKit", "receiptd", "receiptctl", "receipt-sandbox",
      ]),
    tests(
      "ReliabilityTests",
      service + ["Migrations", "Sandbox", "SimulatedDisk", "TestSupport", "receiptd", "receiptctl"]),
    tests(
      "SandboxTests", foundations + ["Terminal", "Config", "Sandbox", "receipt-sandbox", "TestSupport"],
      exclude: ["Snapshots"]),
    tests("CLITests", service + ["CLI", "Sandbox", "Terminal", "TestSupport"], exclude: ["Snapshots"]),
    tests("FuzzTests", fuzzed + ["TestSupport"], exclude: ["Fuzzer", "Corpus", "Dictionaries"]),
    // The rules of the house, over the files of the repository. Needs the programs, to ask them for their verbs.
    tests(
      "TidyTests",
      ["Config", "Service", "Daemon", "Platform", "TestSupport", "receiptctl", "receipt-sandbox"]),
  ],
  swiftLanguageModes: [.v6]
)

// The short form of the sanitizers (`deploy/dev/sanitize --short`). Memory: the suites of code that calls C or is
// marked unsafe. Races: those of code with threads. Of the other suites nothing is built.
if Context.environment["SANITIZER_SUITES"] == "short" {
  let suites: Set = ["PlatformTests", "HTTPServerTests", "HTTPClientTests", "StoreTests"]
  let more: Set =
    Context.environment["SANITIZER"] == "thread"
    ? ["DaemonTests", "CheckoutKitTests"] : ["FormatsTests", "CryptographyTests"]
  package.targets.removeAll { $0.type == .test && !suites.union(more).contains($0.name) }
}

// The fuzzer's program (`deploy/dev/fuzz`), linked with libFuzzer, which the variable names. No other build knows it,
// because its sources are also those of FuzzTests.
if let libFuzzer = Context.environment["LIBFUZZER"] {
  package.targets.removeAll { $0.name == "FuzzTests" }
  package.targets.append(
    .executableTarget(
      name: "Fuzzer", dependencies: fuzzed, path: "Tests/FuzzTests",
      exclude: ["Corpus", "Dictionaries", "FuzzCorpusTorture.swift", "Mutation.swift"],
      sources: ["Targets", "Fuzzer"],
      swiftSettings: house, linkerSettings: [.unsafeFlags([libFuzzer, "-lstdc++"])]))
}

#if !os(Linux)
  // Apps are built on Macs, which do not have the daemon's C libraries: there the package is CheckoutKit alone,
  // so nothing looks for them. Package@swift-6.0.swift is the same for older compilers.
  package.products.removeAll { $0.name != "CheckoutKit" }
  package.targets.removeAll { $0.name != "CheckoutKit" }
#endif
