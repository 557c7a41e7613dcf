// A shop for the terminal: it does with CheckoutKit what an app does, on any machine with Swift.

import CheckoutKit
import Foundation

@main struct CheckoutShop {
  private static let usage = """
    usage: CheckoutShop buy  --user USER --price PRICE [--page URL] [--follow] OPTIONS
           CheckoutShop post OPTIONS
           CheckoutShop status ID OPTIONS
           CheckoutShop claim  LINK --user USER OPTIONS

      buy     begins a checkout and prints the page to open; with --follow also what becomes of it
      post    posts the contexts that wait
      status  prints the state of a checkout
      claim   asks whether to add a purchase without a user to an account, and adds it

      --relay URL   the relay's origin, such as http://127.0.0.1:8080
      --app APP     the app's name there
      --key KEY     one of its client keys
      --outbox DIR  where contexts wait (default: Application Support)
      --page URL    the checkout page of the price, for when the relay cannot be reached
    """

  static func main() async {
    var arguments = Arguments(CommandLine.arguments.dropFirst())
    do {
      guard let command = arguments.next() else { throw Failure(usage, code: 64) }
      switch command {
      case "buy": try await buy(arguments)
      case "post": try await post(arguments)
      case "status": try await status(arguments)
      case "claim": try await claim(arguments)
      default: throw Failure(usage, code: 64)
      }
    } catch {
      let failure = error as? Failure ?? Failure(error)
      FileHandle.standardError.write(Data("\(failure.text)\n".utf8))
      exit(failure.code)
    }
  }

  private static func buy(_ arguments: Arguments) async throws {
    let relay = try relay(arguments)
    let outbox = outbox(of: relay, arguments)
    let context = WebCheckoutContext(stripePriceID: try arguments.required("price"))
    let checkout = try await outbox.begin(context, userID: try arguments.required("user"))
    say("Open \(checkout.page.absoluteString)")
    say("The checkout is \(checkout.contextID).")
    if checkout.posted == nil {
      say("The relay has not answered; the context waits and is posted later.")
    }
    guard arguments.has("follow") else { return }
    await outbox.flush()
    for try await status in relay.updates(of: checkout.contextID) { show(status) }
  }

  private static func post(_ arguments: Arguments) async throws {
    let count = await outbox(of: try relay(arguments), arguments).flush()
    say(count == 0 ? "Nothing waits." : "\(count) still wait.")
  }

  private static func status(_ arguments: Arguments) async throws {
    guard let id = arguments.words.first else { throw Failure(usage, code: 64) }
    show(try await relay(arguments).status(of: id))
  }

  private static func claim(_ arguments: Arguments) async throws {
    let relay = try arguments.required("relay")
    // A relay on this machine has links with http, which are no universal links: read them as the app's own.
    let text = arguments.words.first?.replacingOccurrences(of: "http://", with: "exampleapp://")
    guard let url = text.flatMap({ URL(string: $0) }), let host = URL(string: relay)?.host,
      let link = ClaimLink.read(
        url, hosts: [url.port.map { "\(host):\($0)" } ?? host], schemes: ["exampleapp"])
    else { throw Failure("This is not a claim link of the relay.", code: 64) }
    let user = try arguments.required("user")
    say("Add this purchase to the account of \(user)? Type yes.")
    guard readLine() == "yes" else { return say("Nothing was added.") }
    let answer =
      switch try await self.relay(arguments).claim(link, userID: user) {
      case .claimed: "The purchase is in the account now."
      case .replay: "The purchase was added before."
      case .otherUser: "The purchase belongs to another account."
      case .expired: "The link is no longer valid."
      case .unknown: "The link is not valid."
      case .retryLater: "The relay cannot decide now. Try again later."
      }
    say(answer)
  }

  private static func show(_ status: CheckoutStatus) {
    let text =
      switch status.progress {
      case .pending: "nothing is paid yet"
      case .processing: "paid, and being processed"
      case .processed: "Purchasely has accepted the receipt"
      case .unpaid: "it ended without a payment"
      }
    say("\(status.state.rawValue): \(text)")
  }

  private static func relay(_ arguments: Arguments) throws -> RelayClient {
    guard let url = URL(string: try arguments.required("relay")) else {
      throw Failure("This is no URL.", code: 64)
    }
    let credential = arguments["key"].map { RelayClient.Credential.clientKey($0) } ?? .none
    // A person waits: a few quick attempts.
    let retries = RetryPolicy(attemptsMax: 3, patience: 10)
    return RelayClient(
      relay: url, app: try arguments.required("app"), credential: credential, retries: retries)
  }

  private static func outbox(of relay: RelayClient, _ arguments: Arguments) -> CheckoutOutbox {
    let page = arguments["page"].flatMap { URL(string: $0) }
    return CheckoutOutbox(
      relay: relay, folder: arguments["outbox"].map { URL(fileURLWithPath: $0) },
      pages: { _ in page },
      onOutcome: { outcome in
        switch outcome {
        case .posted(let id, _): say("Posted \(id).")
        case .delayed(let id, let error): say("\(id) waits: \(error.logText.forLog)")
        case .refused(let id, let error): say("\(id) was refused: \(error.logText.forLog)")
        case .expired(let id): say("\(id) is too old to be posted.")
        case .notStored(let id, let reason): say("\(id) could not be stored: \(reason.forLog)")
        }
      })
  }
}

/// Prints a line at once, also into a pipe, where `print` waits for more.
private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// What is wrong, and the exit code.
private struct Failure: Error {
  var text: String
  var code: Int32

  init(_ text: String, code: Int32) { (self.text, self.code) = (text, code) }

  init(_ error: any Error) {
    self.init((error as? RelayError)?.logText.forLog ?? "\(error)", code: 1)
  }
}

/// Words and options, `--name value` or `--name`.
private struct Arguments {
  private(set) var words: [String] = []
  private var options: [String: String] = [:]

  init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        words.append(argument)
        continue
      }
      let hasValue = rest.first.map { !$0.hasPrefix("--") } ?? false
      options[String(argument.dropFirst(2))] = hasValue ? rest.popFirst() : ""
    }
  }

  mutating func next() -> String? { words.isEmpty ? nil : words.removeFirst() }

  func has(_ name: String) -> Bool { options[name] != nil }

  subscript(name: String) -> String? { options[name].flatMap { $0.isEmpty ? nil : $0 } }

  func required(_ name: String) throws -> String {
    guard let value = self[name] else { throw Failure("--\(name) is missing", code: 64) }
    return value
  }
}
