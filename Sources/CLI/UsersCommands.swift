// `receiptctl users`: shows everything about one user, and erases it. The code is in `Users/`.

internal import Formats
internal import Domain
internal import Platform
internal import Reports
internal import Terminal

enum UsersCommands {
  static let spec = CommandGroup("users", summary: "All data of one user, and its erasure")

  private static let app = OptionSpec("app", placeholder: "APP", help: "Only the data of this app")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["users", "show"], summary: "Show all data of a user",
        discussion: """
          With --json it is complete, for a user who asks which data you store; of an id that many users \
          share only the newest \(CountText.grouped(UserSurvey.listMax)) entries, and it ends with 3.
          """,
        arguments: [ArgumentSpec("USER", help: "your own id of the user")], options: [app],
        examples: [
          ExampleSpec("receiptctl users show jdo-1", "Contexts, receipts and customers of one user"),
          ExampleSpec(
            "receiptctl users show jdo-1 --json", "Complete, for the user's request"),
        ]), run: UserShow.run),
    Verb(
      spec: CommandSpec(
        ["users", "forget"], summary: "Erase a user's personal data",
        discussion: """
          Erases the contents of contexts, events, receipts and answers; ids become hashes, so that \
          repeats are still recognized. Counts and states stay. While receipts are still to be delivered, \
          nothing is erased unless --cancel-open is given. Older backups still have the data. This \
          cannot be undone. Without an id of your own, give --customer or --email: the user that it \
          belongs to is erased, if one is known.
          """,
        arguments: [ArgumentSpec("USER", help: "your own id of the user", isRequired: false)],
        options: [
          app,
          OptionSpec(
            "customer", placeholder: "ID", help: "A customer of a processor instead of USER"),
          OptionSpec(
            "email", placeholder: "ADDRESS",
            help: "An e-mail address in events instead of USER; reads all events"),
          OptionSpec(
            flag: "cancel-open", help: "Also cancel and erase receipts that are still to be delivered"),
          OptionSpec(
            flag: "ask-purchasely",
            help: "Then ask Purchasely to forget the user, too; needs client_secret"),
          CommandTable.why,
        ] + CommandTable.asking,
        examples: [
          ExampleSpec("receiptctl users forget jdo-1 --dry-run", "Count the data to erase"),
          ExampleSpec("receiptctl users forget --email jane@example.com", "Erase a guest, who has no user"),
          ExampleSpec(
            "receiptctl users forget jdo-1 --ask-purchasely --why 'request of 2026-11-20'",
            "Erase it here and at Purchasely"),
        ]), run: UserForget.run),
  ]

  /// The user that the command names.
  static func user(_ session: Session) throws -> UserID {
    let user = session.command.positionals[0]
    guard UntrustedText.identifier(user) != nil else {
      throw session.usage(
        "USER must be 1 to \(UntrustedText.identifierBytesMax) bytes without control characters")
    }
    return UserID(user)
  }

  /// Whom `users forget` names, in one of three ways.
  static func subject(_ session: Session) throws -> ErasureSubject {
    let (customer, email) = (session.command.options["customer"], session.command.options["email"])
    let user = session.command.positionals.first
    guard [user, customer, email].compactMap(\.self).count == 1 else {
      throw session.usage("name the user once: by USER, --customer or --email")
    }
    if let email {
      guard let address = Mentions.address(email) else {
        throw session.usage("--email must be an e-mail address, such as jane@example.com")
      }
      return .address(address)
    }
    guard let customer else { return .user(try self.user(session)) }
    guard UntrustedText.identifier(customer) != nil else {
      throw session.usage(
        "--customer must be 1 to \(UntrustedText.identifierBytesMax) bytes without control characters")
    }
    return .customer(CustomerID(customer))
  }
}
