// The documents lead somewhere, and stay short enough to be read.

import FoundationEssentials
import TestSupport
import Testing

/// A page in Markdown: its links, and what links can lead to.
struct MarkdownPage {
  /// The targets of links and pictures, with their line numbers.
  private(set) var links: [(line: Int, target: String)] = []
  /// The anchors of its headings, as GitHub and GitLab make them.
  private(set) var anchors: Set<String> = []

  init(_ text: String) {
    var isCode = false
    var times: [String: Int] = [:]
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.trimmingPrefix(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
      if isCode { continue }
      if let heading = line.wholeMatch(of: #/#{1,6} +(.+)/#) {
        let anchor = Self.anchor(of: String(heading.1))
        anchors.insert(times[anchor].map { "\(anchor)-\($0)" } ?? anchor)
        times[anchor, default: 0] += 1
      }
      let prose = line.replacing(#/`[^`]*`/#, with: "")
      links += prose.matches(of: #/\]\(([^)\s]+)\)|(?:href|src)="([^"]+)"/#).compactMap { match in
        (match.1 ?? match.2).map { (index + 1, String($0)) }
      }
    }
  }

  /// A heading without punctuation, in lower case, with hyphens for blanks.
  static func anchor(of heading: String) -> String {
    let shown = heading.replacing(#/\[([^\]]*)\]\([^)]*\)/#) { $0.1 }
    return String(
      shown.lowercased().compactMap { character in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
      })
  }

  /// The path from the repository's top folder of a link on the page at `path`.
  static func resolve(_ target: String, from path: String) -> String {
    if target.isEmpty { return path }
    var folders = path.split(separator: "/").dropLast().map(String.init)
    for part in target.split(separator: "/") where part != "." {
      if part == ".." { _ = folders.popLast() } else { folders.append(String(part)) }
    }
    return folders.joined(separator: "/")
  }
}

@Suite struct DocumentTests {
  /// The links of pages below `root` that lead to no file, or to no heading of a page.
  private static func broken(_ pages: [(path: String, text: String)], in root: String) -> [String] {
    let parsed = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, MarkdownPage($0.text)) })
    return parsed.flatMap { path, page in
      page.links.filter { !$0.target.contains(":") }.compactMap { line, link in
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = MarkdownPage.resolve(String(parts[0]), from: path)
        let anchors = parts.count == 2 ? parsed[target]?.anchors : nil
        let leads =
          FileManager.default.fileExists(atPath: "\(root)/\(target)")
          && anchors?.contains(String(parts[1])) != false
        return leads ? nil : "\(path):\(line): \(link)"
      }
    }.sorted()
  }

  @Test func `Each link of a document leads to a file, and to a heading that is there`() throws {
    let pages = try Repository.documents().filter { $0.path.hasSuffix(".md") }.map { ($0.path, $0.text) }
    #expect(pages.count > 30)
    #expect(Self.broken(pages, in: Repository.root) == [])
  }

  @Test("So does each link in the Debian package, whose other texts name only documents that it has")
  func packageLinksLead() throws {
    let folder = try TestFolder()
    let ran = try ShellRun(["\(Repository.root)/deploy/dev/package-docs", folder.path])
    try #require(ran.code == 0, "\(ran.output)")
    // What the package has elsewhere (deploy/debian).
    for (name, source) in [
      ("examples/nginx", "deploy/nginx"), ("examples/prometheus", "deploy/prometheus"),
      ("examples/grafana", "deploy/grafana"), ("changelog.gz", "CHANGELOG.md"),
    ] {
      let place = folder.file(name)
      try FileManager.default.createDirectory(
        atPath: String(place[..<(place.lastIndex(of: "/") ?? place.endIndex)]),
        withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: place, withDestinationPath: "\(Repository.root)/\(source)")
    }
    let pages = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".md") }.map { ($0, folder.content($0)) }
    #expect(pages.count > 30)
    #expect(Self.broken(pages, in: folder.path) == [])
    let packaged = [
      "apparmor/", "completions/", "debian/", "grafana/", "man/", "nginx/", "prometheus/", "systemd/",
      "receiptd.",
    ]
    let others = try Repository.documents().filter { file in
      packaged.contains { file.path.hasPrefix("deploy/\($0)") }
    }
    for file in others {
      for document in file.text.matches(of: #/\b(?:docs|deploy)\/[\w\/-]+\.md\b/#).map({ String($0.0) }) {
        #expect(folder.has(document), "\(file.path): \(document)")
      }
    }
  }

  @Test func `What was measured is in docs/figures.md alone, where the proofs write it`() throws {
    let figures = try Repository.text(of: "docs/figures.md")
    let places = figures.matches(of: #/<!-- figures: [a-z-]+ -->\n(?s:.+?)<!-- end of figures -->/#)
    #expect(places.count > 5)
    #expect(places.count == figures.ranges(of: "<!-- figures: ").count)
    // Rates from 1,000 a second, microseconds, and values of quantiles.
    let measured = #/\d,\d{3} ?\/s|\d ?µs\b|\bp(?:50|95|99)\b[^|.,;]{0,20} \d[\d.,]* ?m?s\b/#
    for page in try Repository.documents()
    where page.path.hasSuffix(".md") && page.path != "docs/figures.md" {
      let quoted = page.text.matches(of: measured).map { String($0.0) }
      #expect(quoted == [], "\(page.path)")
    }
  }

  @Test("The minutes that a proof takes are the same in make's list and in docs/reliability.md")
  func minutesAgree() throws {
    let list = try Repository.text(of: "Makefile").matches(of: #/(?m)^([a-z-]+):.*## .*?(\d+) minutes/#)
    let page = try Repository.text(of: "docs/reliability.md")
    let rows = page.matches(of: #/(?m)^\| `make ([a-z-]+)` \|.*\| (\d+) minutes[^|]*\|$/#)
    let minutes = Dictionary(uniqueKeysWithValues: rows.map { ($0.1, $0.2) })
    let both = list.filter { minutes[$0.1] != nil }
    #expect(both.count >= 3)
    for proof in both { #expect(minutes[proof.1] == proof.2, "make \(proof.1)") }
  }

  @Test(arguments: [
    "README.md": 130, "ARCHITECTURE.md": 300, "CHANGELOG.md": 120, "CONTRIBUTING.md": 100,
    "docs/operations.md": 120, "docs/alerts.md": 100, "docs/metrics.md": 100, "docs/logs.md": 100,
    "docs/scaling.md": 150, "docs/sandbox.md": 80, "docs/webhook.md": 200, "docs/identity.md": 150,
    "docs/commands.md": 150, "docs/cli-json.md": 80, "docs/dashboard.md": 150,
    "docs/concepts.md": 80, "docs/purchasely.md": 80, "docs/reliability.md": 120,
    "docs/performance.md": 120,
    "docs/swedbank.md": 200, "docs/afterpay.md": 200, "docs/quickstart-stripe.md": 120,
    "docs/installation.md": 120, "docs/ios.md": 260, "docs/ios-app-store.md": 90,
    "docs/android.md": 250, "docs/react-native.md": 150, "docs/flutter.md": 150, "docs/capacitor.md": 100,
    "docs/http-api.md": 100,
    "docs/checkout.md": 200, "docs/links.md": 200, "docs/client-access.md": 120,
  ])
  func `A page that people read first is short`(_ path: String, linesMax: Int) throws {
    let lines = try Repository.text(of: path).count { $0 == "\n" }
    #expect(lines <= linesMax, "\(path) has \(lines) lines")
  }

  @Test func `Each topic of the architecture has at most 200 lines, and is named by ARCHITECTURE`() throws {
    let index = try Repository.text(of: "ARCHITECTURE.md")
    for name in try Repository.names(in: "docs/architecture") {
      let path = "docs/architecture/\(name)"
      #expect(index.contains("(\(path))"), "\(path)")
      let lines = try Repository.text(of: path).count { $0 == "\n" }
      #expect(lines <= 200, "\(path) has \(lines) lines")
    }
  }

  @Test("Each page of the runbook has at most 250 lines, and the index leads to each of its sections")
  func runbookPagesAreShort() throws {
    let index = MarkdownPage(try Repository.text(of: "docs/operations.md")).links.map(\.target)
    let names = try Repository.names(in: "docs/runbook")
    #expect((1...5).contains(names.count))
    for name in names {
      let text = try Repository.text(of: "docs/runbook/\(name)")
      let lines = text.count { $0 == "\n" }
      #expect(lines <= 250, "\(name) has \(lines) lines")
      for heading in text.matches(of: #/\n## (.+)/#) {
        let link = "runbook/\(name)#\(MarkdownPage.anchor(of: String(heading.1)))"
        #expect(index.contains(link), "\(link)")
      }
    }
  }

  @Test func `What a publisher must set is in one place`() throws {
    let files = try Repository.documents().filter { $0.text.contains(".invalid>") }
    #expect(files.map(\.path) == ["deploy/dev/version.sh"])
  }

  @Test func `Links and anchors of a page are found; those in code are not links`() {
    let page = MarkdownPage(
      """
      # One `page`: it's short
      [a](b.md#c) and `[no](link)`
      ```sh
      # no heading [no](link)
      ```
      ## Twice
      ## Twice
      <img src="images/d.png">
      """)
    #expect(page.links.map(\.target) == ["b.md#c", "images/d.png"])
    #expect(page.links.map(\.line) == [2, 8])
    #expect(page.anchors == ["one-page-its-short", "twice", "twice-1"])
  }

  @Test(arguments: [
    ("b.md", "docs/b.md"), ("../README.md", "README.md"), ("./c/d.md", "docs/c/d.md"), ("", "docs/a.md"),
  ])
  func `A link is resolved from its page`(_ target: String, to path: String) {
    #expect(MarkdownPage.resolve(target, from: "docs/a.md") == path)
  }
}
