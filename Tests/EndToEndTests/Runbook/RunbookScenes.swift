// The fault of each section of the runbook before its first command, and the events between the commands. One
// thread.

import Domain
import Formats
import Glibc
import TestSupport
import Testing

/// The situation of a section of the runbook.
struct RunbookScene {
  static let stripeKey = "rk_test_of_the_runbook"

  /// Creates the situation.
  var prepare: (Relay, Destination) throws -> Void
  /// External events before the command with this number, from 0: the cause was fixed.
  var before: [Int: (Relay, Destination) throws -> Void] = [:]
  /// The object whose receipt the section's commands name.
  var object: String?
  var app: JSONValue = [:]
  /// Changes for the rest of the configuration.
  var top: JSONValue = [:]
  /// The stand-ins for Swedbank Pay and the merchant's backend; nil for a section about neither.
  var shop: RunbookShop?
  /// Changes for the section `swedbank`.
  var swedbank: JSONValue = [:]
  /// Users whose payments only Stripe knows: their events never arrived.
  var missed: [String] = []
  /// The server of a section about PostgreSQL; nil for a database in a file.
  var server: RunbookServer?
  /// The command before which the trouble exists, from 0; its `before` is a part of the trouble, if it is
  /// not the first.
  var beginsBefore = 0
  /// The effect of the commands, as far as they do not print it.
  var check: ((Relay, Destination) throws -> Void)?
  /// Prepares the relay before its first start.
  var setUp: (Relay, PastDatabase?) throws -> Void = { try $1?.copy(to: $0.databasePath) }
  /// A command that is prepended to the programs' paths.
  var place: (Relay) -> String = { _ in "" }

  static func buy(_ relay: Relay, _ users: [String]) throws {
    for user in users {
      let checkout = Checkout(user)
      try relay.buy(checkout)
    }
  }

  static func wait(_ relay: Relay, _ state: ReceiptState, _ users: [String]) throws {
    for user in users { try relay.reaches(state, Checkout(user).subscription) }
  }

  static let users = ["jdo-1", "jdo-2", "jdo-3"]

  private static var refused: RunbookScene {
    RunbookScene(
      prepare: { relay, destination in
        let error = #"{"errors":["missing mandatory property \"stripe_price_id\""]}"#
        destination.answerAll(.status(422, body: error))
        try buy(relay, users)
        try wait(relay, .failed, users)
      },
      before: [5: { _, destination in destination.answerAll(.taken) }],
      object: Checkout(users[0]).subscription)
  }

  private static var credentials: RunbookScene {
    RunbookScene(
      prepare: { relay, destination in
        destination.answerAll(.status(401, body: #"{"errors":["unknown api_key"]}"#))
        try buy(relay, users)
        try waitUntil("the breaker pauses") { try relay.breaker().state == .paused }
      },
      before: [
        1: { relay, destination in
          try change(relay, ["purchasely": ["api_key": "the-corrected-key"]])
          destination.answerAll(.taken)
        },
        3: { relay, _ in try wait(relay, .delivered, users) },
      ])
  }

  private static var down: RunbookScene {
    RunbookScene(
      prepare: { relay, destination in
        destination.answerAll(.status(503, body: "down"))
        try buy(relay, users)
        try waitUntil("the breaker opens") { try relay.breaker().state == .open }
      },
      before: [
        2: { relay, _ in
          let soon: JSONValue = [
            "delivery": ["retry": ["give_up_after": "1s"], "breaker": ["open_for": "1s"]]
          ]
          relay.configuration = relay.configuration.merging(["apps": ["shop": soon]])
          try relay.writeAndReload()
          try wait(relay, .failed, users)
        },
        3: { _, destination in destination.answerAll(.taken) },
      ],
      // The third purchase opens the breaker. Until then no receipt is retried, even on a slow machine.
      // `open_for` is the default, so that the page shows the usual output.
      app: ["delivery": ["breaker": ["failures": 3, "open_for": "30s"], "retry": ["schedule": ["5s"]]]])
  }

  private static var listed: RunbookScene { RunbookScene(prepare: down.prepare, app: down.app) }

  /// The destination answers one receipt with errors, and accepts every other.
  private static var oneReceipt: RunbookScene {
    let object = Checkout("jdo-3").subscription
    return RunbookScene(
      prepare: { relay, destination in
        destination.answerAll { entry in
          entry.objectID == object ? .status(200, body: #"{"errors":["unknown presentation"]}"#) : .taken
        }
        try buy(relay, ["jdo-1", "jdo-2"])
        try wait(relay, .delivered, ["jdo-1", "jdo-2"])
        try buy(relay, ["jdo-3"])
        try waitUntil("the breaker pauses") { try relay.breaker().state == .paused }
        try buy(relay, ["jdo-4"])
        try wait(relay, .delivered, ["jdo-4"])
        // The commands read the stored report, which follows within some seconds.
        let stats = relay.receiptctlCommand + ["stats"]
        try waitUntil("the stored report has it") {
          try ShellRun(stats).output.contains("fails while others pass")
        }
      },
      before: [4: { _, destination in destination.answerAll(.taken) }],
      // While the commands run, the receipt is not due.
      object: object, app: ["delivery": ["breaker": ["open_for": "30s"]]])
  }

  private static var unmatched: RunbookScene {
    RunbookScene(
      prepare: { relay, _ in
        let nobody: JSONValue = ["data": ["object": ["client_reference_id": .null]]]
        for user in users {
          try relay.ingest(Checkout(user).completed.merging(nobody))
        }
        try wait(relay, .waiting, users)
        let strange = Array(#"{"id":"evt_strange","type":"checkout.session.completed","data":{}}"#.utf8)
        let signature = try Stripe.signature(of: strange, secret: Secrets.webhook)
        try #require(try relay.outside.send(bytes: strange, signature: signature).status == 200)
      }, object: Checkout(users[0]).subscription)
  }

  static var usual: RunbookScene {
    RunbookScene(prepare: { relay, _ in
      try buy(relay, users)
      try wait(relay, .delivered, users)
    })
  }

  private static var customer: RunbookScene {
    RunbookScene(
      prepare: { relay, _ in
        for user in users {
          let said: JSONValue = [
            "data": [
              "object": [
                "customer_details": ["email": .string("\(user)@example.com")],
                "invoice": .string("in_1PgafmB7WZ01zgkW\(user)"),
              ]
            ]
          ]
          try relay.post(Checkout(user))
          try relay.ingest(Checkout(user).completed.merging(said))
        }
        try wait(relay, .delivered, users)
      }, object: Checkout(users[0]).subscription)
  }

  /// Stripe could not deliver an event.
  private static var silent: RunbookScene {
    RunbookScene(
      prepare: usual.prepare, missed: ["jdo-4"], check: { relay, _ in try wait(relay, .delivered, ["jdo-4"]) }
    )
  }

  private static var rotation: RunbookScene {
    var scene = usual
    scene.prepare = { relay, destination in
      try usual.prepare(relay, destination)
      let body = Checkout("jdo-4").completed.serialized()
      let signature = try Stripe.signature(of: body, secret: "whsec_the_new_one")
      try #require(try relay.outside.send(bytes: body, signature: signature).status == 400)
    }
    scene.missed = ["jdo-4"]
    scene.before = [
      0: { relay, _ in
        let secrets: JSONValue = [.string(Secrets.webhook), "whsec_the_new_one"]
        try change(relay, ["stripe": ["webhook_secrets": secrets]])
      }
    ]
    return scene
  }

  /// An operator's change of the app's configuration.
  static func change(_ relay: Relay, _ app: JSONValue) throws {
    relay.configuration = relay.configuration.merging(["apps": ["shop": app]])
    try relay.writeConfiguration()
  }

  private static var held: RunbookScene {
    var scene = usual
    scene.before = [
      1: { relay, _ in
        // Until receiptd has read the pause it may still send a receipt that becomes due.
        try waitUntil("receiptd holds the deliveries") {
          relay.log.contains("an operator holds the deliveries")
        }
        try buy(relay, ["jdo-4"])
        try wait(relay, .pending, ["jdo-4"])
      },
      3: { relay, _ in try wait(relay, .delivered, ["jdo-4"]) },
    ]
    return scene
  }

  /// Purchases come faster than the app may deliver them: while the commands run, only the first is
  /// delivered.
  private static var flood: RunbookScene {
    RunbookScene(
      prepare: { relay, _ in
        try buy(relay, (1...60).map { "jdo-\($0)" })
        try wait(relay, .delivered, ["jdo-1"])
      }, app: ["delivery": ["rate": .number(0.001)]])
  }

  /// A faulty configuration, which is corrected.
  private static var refusedReload: RunbookScene {
    var scene = usual
    scene.prepare = { relay, destination in
      try usual.prepare(relay, destination)
      try change(relay, ["stripe": ["tolerance": "soon"]])
      relay.signal(SIGHUP)
      try waitUntil("the reload is refused") { relay.log.contains("keeping the previous configuration") }
      try change(relay, ["stripe": ["tolerance": "10m"]])
    }
    return scene
  }

  /// - Returns: nil if the section has no situation.
  static func of(_ title: String) throws -> RunbookScene? {
    if let incident = Incident(rawValue: title) { return of(incident) }
    return switch title {
    case "A payment processor is down": try processorDown()
    case "A payment processor refuses the credentials": try processorRefuses()
    case "Callbacks do not arrive": try callbacksMissing()
    case "The outcome of a capture is unknown": try captureUnknown()
    case "List what failed, for someone else": listed
    case "Receipts wait for a user": withoutUser
    case "Two users, one purchase": twoUsers
    case "The wrong user got it": wrongUser
    case "Hold an app's deliveries": held
    // The large database has no receipt that joined, so it cannot become worse there.
    case "Contexts do not join": unjoined
    case "A customer writes: an e-mail address and a date": customer
    case "Rotate Stripe's signing secret without losing an event": rotation
    case "A reload is refused": refusedReload
    case "The backlog grows": down
    case "A certificate is about to expire": try certificate()
    case "An app gets no events": silent
    case "The database is damaged, and there is no backup": damaged(withBackup: false)
    case "Move to another machine": replaced
    case "The PostgreSQL database cannot be used", "Which relay delivers an app": try served()
    case "The PostgreSQL database cannot be reached": try unreachable()
    case "Remove a relay": try removed()
    // Nothing is wrong, or a backup was never made.
    case "Check the whole relay", "The last backup is too old", "Upgrade, and roll back",
      "A user asks for their data, or for its erasure":
      usual
    default: nil
    }
  }

  private static func of(_ incident: Incident) -> RunbookScene {
    switch incident {
    case .refusedReceipts: refused
    case .refusedCredentials: credentials
    case .destinationDown: down
    case .webPage: webPage
    case .oneReceipt: oneReceipt
    case .missingApp: missingApp
    case .disputed: disputed
    case .unmatched: unmatched
    case .fullDisk: fullDisk
    case .lostDatabase: restored
    case .movedFile: moved
    case .damaged: damaged(withBackup: true)
    case .noConnections: noConnections
    case .wasDown: wasDown
    case .slow: slow
    case .flood: flood
    case .leakedKey: leakedKey
    case .accountChanged: accountChanged
    }
  }
}
