// The situations of the runbook in which an operator changes the configuration, or starts receiptd. One
// thread.

import Domain
import Formats
import Glibc
import HTTPServer
import Store
import TestSupport
import Testing

extension RunbookScene {
  /// The app posts the users' ids in other letters than its checkouts have.
  static var unjoined: RunbookScene {
    let users = (1...20).map { "jdo-\($0)" }
    return RunbookScene(
      prepare: { relay, _ in
        for user in users {
          let checkout = Checkout(user)
          let posted = try relay.outside.postContext(user.uppercased(), checkout.context, app: "shop")
          try #require(posted.status == 201)
          try relay.ingest(checkout.completed)
        }
        try wait(relay, .delivered, users)
      }, object: Checkout("jdo-20").subscription)
  }

  /// A login page answers instead of the destination, until its URL is corrected.
  static var webPage: RunbookScene {
    RunbookScene(
      prepare: { relay, destination in
        destination.answerAll { entry in
          entry.head.query == "corrected" ? .taken : .status(200, body: "<html><h1>Log in</h1></html>")
        }
        try buy(relay, users)
        try waitUntil("the breaker pauses") { try relay.breaker().state == .paused }
      },
      before: [
        1: { relay, destination in
          try change(relay, ["purchasely": ["url": .string(destination.url + "?corrected")]])
        },
        3: { relay, _ in try wait(relay, .delivered, users) },
      ])
  }

  /// The configuration has another app instead.
  static var missingApp: RunbookScene {
    var whole: JSONValue = [:]
    return RunbookScene(
      prepare: { relay, destination in
        destination.answerAll(.status(503))
        try buy(relay, users)
        try wait(relay, .pending, users)
        whole = relay.configuration
        try relay.rename("shop", "other")
        try reload(relay)
        destination.answerAll(.taken)
      },
      before: [
        1: { relay, _ in
          relay.configuration = whole
          try relay.writeConfiguration()
        },
        3: { relay, _ in try wait(relay, .delivered, users) },
      ])
  }

  private static func reload(_ relay: Relay) throws {
    relay.signal(SIGHUP)
    try waitUntil("the configuration is read again") { relay.log.contains("configuration read again") }
  }

  /// A guess gave a context to one purchase; then another one named it.
  static var disputed: RunbookScene {
    let (first, second, third) = (Checkout("jdo-1"), Checkout("jdo-2"), Checkout("jdo-3"))
    return RunbookScene(
      prepare: { relay, _ in
        let id = try relay.buy(first)
        try relay.reaches(.delivered, first.subscription)
        let named: JSONValue = ["data": ["object": ["client_reference_id": .string(id)]]]
        try relay.ingest(second.completed.merging(named))
        try relay.reaches(.delivered, second.subscription)
      },
      before: [1: { relay, _ in try change(relay, ["join": ["guess": "never"]]) }],
      object: first.subscription,
      check: { relay, destination in
        try relay.buy(third)
        try relay.reaches(.delivered, third.subscription)
        #expect(destination.ledger(of: third.subscription).first?["ply_context"] == nil)
      })
  }

  /// receiptd was killed, and Stripe could not deliver an event meanwhile.
  static var wasDown: RunbookScene {
    RunbookScene(
      prepare: { relay, destination in
        try usual.prepare(relay, destination)
        try relay.stop(SIGKILL)
      },
      missed: ["jdo-4"], check: { relay, _ in try wait(relay, .delivered, ["jdo-4"]) })
  }

  /// The destination needs longer for an answer than purchases need to come.
  static var slow: RunbookScene {
    let many = (1...8).map { "jdo-\($0)" }
    return RunbookScene(
      prepare: { relay, destination in
        destination.answerAll(.late(.milliseconds(1500), .taken))
        try buy(relay, many)
        try wait(relay, .delivered, [many[0]])
      },
      before: [2: { relay, _ in try change(relay, ["delivery": ["concurrency": 20, "rate": 50]]) }],
      // One slow attempt, however long the commands take.
      app: ["delivery": ["concurrency": 1, "rate": .number(0.001)]],
      check: { relay, _ in try wait(relay, .delivered, many) })
  }

  /// Someone else posts contexts with the app's key.
  static var leakedKey: RunbookScene {
    let another = "client-key-after-the-leak"
    return RunbookScene(
      prepare: { relay, destination in
        try usual.prepare(relay, destination)
        try relay.post(Checkout("intruder-1"))
      },
      before: [0: { relay, _ in try change(relay, ["client": ["keys": [.string(another)]]]) }],
      check: { relay, _ in
        func post(_ key: String) throws -> Int {
          let checkout = Checkout("intruder-2")
          return try relay.outside.postContext(
            checkout.user, checkout.context, headers: ["Authorization": "Bearer \(key)"]
          ).status
        }
        let statuses = (try post(Secrets.clientKey), try post(another))
        #expect(statuses == (401, 201))
      })
  }

  /// The shop sells with another account of Stripe, and the relay has the keys of the former one.
  static var accountChanged: RunbookScene {
    RunbookScene(
      prepare: { relay, _ in
        // The second report follows 5 s later: it counts all of them.
        try waitUntil("receiptd has reported") { try relay.read { try $0.serviceReport(.health) } != nil }
        for number in 1...11 {
          try #require(try relay.outside.send(Checkout("jdo-\(number)").completed).status == 400)
        }
        try waitUntil("receiptd reports the refusals") {
          try relay.read { try $0.serviceReport(.health) }?.content.contains(#""mismatch":11"#) == true
        }
      },
      before: [
        0: { relay, _ in
          try change(
            relay, ["stripe": ["api_key": .string(stripeKey), "webhook_secrets": [.string(Secrets.webhook)]]])
        }
      ],
      app: ["stripe": ["api_key": "rk_test_of_another_account", "webhook_secrets": ["whsec_of_another"]]],
      check: { relay, _ in
        // Stripe sends refused webhooks again.
        try buy(relay, users)
        try wait(relay, .delivered, users)
      })
  }

  static var replaced: RunbookScene {
    RunbookScene(
      prepare: usual.prepare,
      check: { relay, _ in
        #expect(try relay.receipts().filter { $0.receipt?.state == .delivered }.count >= users.count)
        try buy(relay, ["jdo-4"])
        try wait(relay, .delivered, ["jdo-4"])
      })
  }

  /// The listener's certificate ends in two days, until it is renewed.
  static func certificate() throws -> RunbookScene {
    let directory = try TestFolder()
    let made = try SelfSigned(in: directory)
    return RunbookScene(
      prepare: { _, _ in },
      before: [0: { _, _ in _ = try SelfSigned(in: directory, days: 90) }],
      top: ["listen": ["tls": ["certificate": .string(made.certificate), "key": .string(made.key)]]])
  }
}

extension Relay {
  /// Gives an app another name in the configuration.
  func rename(_ app: String, _ name: String) throws {
    guard case .object(let members) = configuration, let apps = configuration["apps"], let shop = apps[app]
    else { return }
    let renamed = JSONValue.object([.init(name: name, value: shop)])
    configuration = .object(members.map { $0.name == "apps" ? .init(name: "apps", value: renamed) : $0 })
    try writeConfiguration()
  }
}

// MARK: - Users

// Whose purchase is it.

extension RunbookScene {
  private static let knownUsers: JSONValue = ["stripe": ["reference": "known_user"]]

  /// A checkout whose reference is no user: the app has posted no context.
  static var withoutUser: RunbookScene {
    RunbookScene(
      prepare: { relay, _ in
        try relay.ingest(Checkout("jdo-1").completed)
        try wait(relay, .waiting, ["jdo-1"])
      }, object: Checkout("jdo-1").subscription, app: knownUsers,
      check: { relay, _ in
        try wait(relay, .delivered, ["jdo-1"])
        // A context that the app posts later names the user, too.
        try relay.ingest(Checkout("jdo-2").completed)
        try wait(relay, .waiting, ["jdo-2"])
        try relay.post(Checkout("jdo-2"))
        try wait(relay, .delivered, ["jdo-2"])
      })
  }

  /// The metadata name another user than the reference.
  static var twoUsers: RunbookScene {
    RunbookScene(
      prepare: { relay, _ in
        try relay.post(Checkout("jdo-1"))
        let metadata: JSONValue = ["data": ["object": ["metadata": ["ply_user_id": "jdo-9"]]]]
        try relay.ingest(Checkout("jdo-1").completed.merging(metadata))
        try wait(relay, .delivered, ["jdo-1"])
      }, object: Checkout("jdo-1").subscription, app: knownUsers)
  }

  /// A receipt that was delivered for the wrong user.
  static var wrongUser: RunbookScene {
    RunbookScene(
      prepare: { relay, _ in
        try buy(relay, ["jdo-1"])
        try wait(relay, .delivered, ["jdo-1"])
      }, object: Checkout("jdo-1").subscription,
      check: { _, destination in
        try waitUntil("both receipts arrive") {
          destination.ledger(of: Checkout("jdo-1").subscription).map { $0["user_id"] } == ["jdo-1", "jdo-2"]
        }
      })
  }
}
