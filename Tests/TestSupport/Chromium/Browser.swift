// A page in a real browser: navigate, read, click, and collect the browser's errors. One thread.

public import Formats
internal import Platform

/// One page of a headless Chromium, with an empty profile.
public final class Browser {
  /// Whether Chromium is installed.
  public static var isInstalled: Bool { BrowserProcess.path != nil }
  /// The reason for skipping a test.
  public static let missing: String =
    "Chromium is not installed: apt-get install chromium (deploy/dev/deps browser), and these run, too"

  /// The size, the device and the colour scheme with which a page is shown.
  public struct View: Sendable {
    public var name: String
    public var width: Int
    public var height: Int
    public var isPhone: Bool
    public var isDark: Bool

    public init(_ name: String, _ width: Int, _ height: Int, isPhone: Bool = false, isDark: Bool = false) {
      self.name = name
      self.width = width
      self.height = height
      self.isPhone = isPhone
      self.isDark = isDark
    }

    public static let all = [
      View("desktop-light", 1440, 900), View("desktop-dark", 1440, 900, isDark: true),
      View("phone-light", 390, 844, isPhone: true), View("phone-dark", 390, 844, isPhone: true, isDark: true),
    ]
  }

  private let process: BrowserProcess
  private var lastID: Int64 = 0
  private var session: String?
  /// Events that arrived while a call waited for its answer.
  private var events: [JSONValue] = []
  /// The browser's complaints: errors of the console and of scripts, violations of the page's policy, and
  /// failed requests.
  public private(set) var complaints: [String] = []
  /// Every URL that the pages requested, but for `data:`: those load nothing, and the browser's own controls
  /// have such pictures.
  public private(set) var requests: [String] = []

  /// - Throws: `BrowserError`.
  public init() throws {
    guard let path = BrowserProcess.path else { throw BrowserError.refused(Self.missing) }
    process = try BrowserProcess(path)
    let targets = try call("Target.getTargets")["targetInfos"]?.arrayValue ?? []
    let page = targets.first { $0["type"]?.stringValue == "page" }?["targetId"] ?? .null
    session = try call("Target.attachToTarget", ["targetId": page, "flatten": true])["sessionId"]?.stringValue
    for domain in ["Page", "Runtime", "Network", "Log", "DOM", "Accessibility", "Audits"] {
      _ = try call("\(domain).enable")
    }
  }

  // MARK: The protocol

  /// Calls a method of the protocol and waits for its answer.
  @discardableResult
  public func call(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
    lastID += 1
    let id = lastID
    var message: [JSONValue.Member] = [
      .init(name: "id", value: .integer(id)), .init(name: "method", value: .string(method)),
      .init(name: "params", value: parameters),
    ]
    if let session { message.append(.init(name: "sessionId", value: .string(session))) }
    try process.send(.object(message))
    let deadline = MonotonicInstant.now().advanced(by: BrowserProcess.patience)
    while let answer = try process.receive(until: deadline) {
      guard answer["id"]?.integerValue == id else {
        note(answer)
        continue
      }
      if let error = answer["error"] { throw BrowserError.refused("\(method): \(error.text)") }
      return answer["result"] ?? [:]
    }
    throw BrowserError.timedOut(method)
  }

  private func note(_ event: JSONValue) {
    events.append(event)
    let parameters = event["params"] ?? [:]
    switch event["method"]?.stringValue {
    case "Log.entryAdded":
      let entry = parameters["entry"] ?? [:]
      if ["error", "warning"].contains(entry["level"]?.stringValue) { complaints.append(entry.text) }
    case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Audits.issueAdded":
      complaints.append(parameters.text)
    case "Network.requestWillBeSent":
      if let url = parameters["request"]?["url"]?.stringValue, !url.hasPrefix("data:") {
        requests.append(url)
      }
    case "Network.loadingFailed": complaints.append(parameters.text)
    default: break
    }
  }

  /// Waits for an event that came after the last call of `forgetEvents`.
  private func wait(for method: String) throws {
    let deadline = MonotonicInstant.now().advanced(by: BrowserProcess.patience)
    while !events.contains(where: { $0["method"]?.stringValue == method }) {
      guard let event = try process.receive(until: deadline) else { throw BrowserError.timedOut(method) }
      note(event)
    }
  }

  // MARK: User actions

  /// Changes the display settings.
  public func use(_ view: View) throws {
    try call(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .integer(Int64(view.width)), "height": .integer(Int64(view.height)), "deviceScaleFactor": 1,
        "mobile": .bool(view.isPhone),
      ])
    let scheme: JSONValue = [
      "name": "prefers-color-scheme", "value": .string(view.isDark ? "dark" : "light"),
    ]
    try call("Emulation.setEmulatedMedia", ["features": [scheme]])
  }

  /// Shows pages as they are printed, on a sheet of A4 at 96 dots per inch.
  public func printOnPaper() throws {
    try use(View("paper", 794, 1123))
    try call("Emulation.setEmulatedMedia", ["media": "print"])
  }

  /// Goes to an address and waits until the page is loaded.
  public func open(_ url: String) throws {
    events = []
    let answer = try call("Page.navigate", ["url": .string(url)])
    if let error = answer["errorText"]?.stringValue { throw BrowserError.refused("\(url): \(error)") }
    try wait(for: "Page.loadEventFired")
  }

  /// Clicks the element of a CSS selector, at its position, and waits for the page that it leads to.
  public func follow(_ selector: String) throws {
    events = []
    let place = try value(
      """
      (() => { const found = document.querySelector(\(JSONValue.string(selector).text));
        found.scrollIntoView({block: "center"}); const box = found.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2]; })()
      """)
    let coordinates = place.arrayValue ?? []
    guard coordinates.count == 2 else { throw BrowserError.refused("there is no \(selector)") }
    for type in ["mousePressed", "mouseReleased"] {
      try call(
        "Input.dispatchMouseEvent",
        [
          "type": .string(type), "x": coordinates[0], "y": coordinates[1], "button": "left", "clickCount": 1,
        ])
    }
    try wait(for: "Page.loadEventFired")
  }

  /// Goes back by one page; it does not wait for it.
  public func goBack() throws {
    let history = try call("Page.getNavigationHistory")
    let (entries, current) = (
      history["entries"]?.arrayValue ?? [], history["currentIndex"]?.integerValue ?? 0
    )
    guard current > 0, current <= entries.count else { throw BrowserError.refused("there is no page before") }
    try call("Page.navigateToHistoryEntry", ["entryId": entries[Int(current) - 1]["id"] ?? .null])
  }

  /// Presses a key, such as `Tab` or `Enter`.
  public func press(_ key: String) throws {
    let codes: [String: Int64] = ["Tab": 9, "Enter": 13]
    for type in ["rawKeyDown", "char", "keyUp"] where type != "char" || key == "Enter" {
      try call(
        "Input.dispatchKeyEvent",
        [
          "type": .string(type), "key": .string(key), "code": .string(key),
          "windowsVirtualKeyCode": .integer(codes[key] ?? 0), "text": .string(type == "char" ? "\r" : ""),
        ])
    }
  }

  /// Types a text into the focused element.
  public func type(_ text: String) throws { try call("Input.insertText", ["text": .string(text)]) }

  // MARK: Page contents

  /// The value of a JavaScript expression. The protocol runs it although the page's policy forbids scripts.
  /// If the page is replaced meanwhile, the expression is evaluated on the next page.
  public func value(_ expression: String) throws -> JSONValue {
    let question: JSONValue = [
      "expression": .string(expression), "returnByValue": true, "awaitPromise": true,
    ]
    var answer: JSONValue?
    for _ in 0..<10 where answer == nil {
      do {
        answer = try call("Runtime.evaluate", question)
      } catch BrowserError.refused(let why) where why.contains("Inspected target navigated") {
        continue
      }
    }
    guard let answer else { throw BrowserError.timedOut(expression) }
    if let fault = answer["exceptionDetails"] { throw BrowserError.refused(fault.text) }
    return answer["result"]?["value"] ?? .null
  }

  public func text(_ expression: String) throws -> String { try value(expression).stringValue ?? "" }

  /// The document as the browser parsed it.
  public func dom() throws -> String { try text("document.documentElement.outerHTML") }

  /// The accessibility tree: the role and the name of every element that has both.
  public func accessibleThings() throws -> [(role: String, name: String)] {
    let nodes = try call("Accessibility.getFullAXTree")["nodes"]?.arrayValue ?? []
    return nodes.compactMap { node in
      guard node["ignored"] != .bool(true), let role = node["role"]?["value"]?.stringValue else { return nil }
      return (role, node["name"]?["value"]?.stringValue ?? "")
    }
  }

  /// A screenshot of the whole page, as PNG.
  public func picture() throws -> [UInt8] {
    let size = try call("Page.getLayoutMetrics")["cssContentSize"] ?? [:]
    let answer = try call(
      "Page.captureScreenshot",
      [
        "format": "png", "captureBeyondViewport": true,
        "clip": [
          "x": 0, "y": 0, "width": size["width"] ?? 0, "height": size["height"] ?? 0, "scale": 1,
        ],
      ])
    let text = answer["data"]?.stringValue ?? ""
    guard let bytes = Base64.decode(text.utf8.span, .standard), !bytes.isEmpty else {
      throw BrowserError.refused("there is no picture")
    }
    return bytes
  }
}

extension JSONValue {
  fileprivate var arrayValue: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  fileprivate var integerValue: Int64? { if case .integer(let number) = self { number } else { nil } }
}
