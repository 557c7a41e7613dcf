// The starter file that `receiptctl config init` writes, and the reference of every key. Pure; any thread. A
// test compares the defaults that it states with the real ones.

/// The commented starter file.
public enum ConfigurationTemplate {
  /// JSON5 that loads once the secret files that it names exist. A line that begins with `//` without a space
  /// states a default; every other comment explains.
  public static let text = text(ProcessorRegistry.standard)

  /// The text with the sections of these processors.
  static func text(_ registry: ProcessorRegistry) -> String {
    let processors = registry.kinds.map(\.template).joined(separator: "\n\n")
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "      \($0)" }.joined(separator: "\n")
    return frame.replacing("      // (the payment processors)", with: processors)
  }

  private static let frame = #"""
    // Configuration of receiptd (JSON5: comments and trailing commas are fine).
    //
    // A line that begins with two slashes and no space states a default; take the slashes away to change it.
    // Durations: "250ms" "30s" "5m" "72h" "30d". Sizes: "512B" "64KiB" "1MiB". Secrets: "file:/path" reads a
    // file (the newline at its end is dropped), "env:NAME" an environment variable. Check it with: receiptctl
    // config check. A running receiptd reads this file and the files of secrets again with: receiptctl
    // reload. The environment and systemd credentials are read at the start only: a new value there needs a
    // restart.
    {
      // The public listener: apps post contexts to it, Stripe posts webhooks. Port 0 lets the system choose.
      listen: {
        //address: "127.0.0.1",
        //port: 8080,
        // Only without a proxy that does TLS in front:
        // tls: { certificate: "/path/fullchain.pem", key: "/path/privkey.pem" },
        // Whose X-Forwarded-For is believed: addresses, or networks such as "10.0.0.0/8".
        //proxies: ["127.0.0.1", "::1"],
      },

      // Health, metrics and the dashboard, which shows every receipt: http://127.0.0.1:8081/
      admin: {
        //address: "127.0.0.1",
        //port: 8081,
        // In place of address and port, a Unix socket: users who may open its file have access.
        // socket: "/run/receiptd/admin.sock",
        // For everything but /healthz and /readyz. On an address that others can reach it is required.
        // password: "file:/etc/receiptd/secrets/admin_password",
      },

      // The database's file. A relative path is taken from this file's folder.
      database: "/var/lib/receiptd/receiptd.db",

      log: {
        // error, warning, info or debug
        //level: "info",
        // text or json
        //format: "text",
        // Whether users' ids and clients' addresses are in the log unchanged. Otherwise a short mark that
        // is the same for the same one until receiptd is restarted.
        //personal: false,
      },

      // More than this is refused, so that memory stays bounded.
      limits: {
        //context_body: "64KiB",
        //webhook_body: "4MiB",
        //connections: 2000,
        //connections_per_address: 200,
        // Of these, what only webhooks may use, so that they come through whatever else is going on; a tenth
        // of the connections without it.
        //webhook_connections: 200,
        // Requests that wait for the end of a checkout (?wait=): in all (eight tenths of the connections
        // without it), for one context, and from one address. One too many is answered at once.
        //long_polls: 1600,
        //long_polls_per_context: 4,
        //long_polls_per_address: 32,
        // For a whole request, however slowly it comes, from the moment that its connection is accepted.
        //request_timeout: "10s",
        // Writes that may wait for the disk before a 503 asks to come back.
        //queue: 10000,
        // Contexts for one user and from one address (of IPv6: one /64): a number in a second, a minute or an
        // hour, such as "10/s", "120/m" or "5000/h"; or "off".
        //contexts_per_user: "120/m",
        // If all clients share one address, that of a proxy, listen.proxies must name it.
        //contexts_per_address: "1200/m",
      },

      // How long what is settled is kept.
      retention: {
        //contexts: "30d",
        //events: "30d",
        //attempts: "90d",
        //receipts: "400d",
      },

      // Who is notified of problems, by a POST of JSON with a text that Slack shows: to (https, or where the
      // address stands: "env:NAME", "file:/path"), on (breaker_open, receipt_failed, oldest_pending>15m,
      // disk_low<1GiB, database, signature_failures>10), every (at most one notice of a trouble in so long,
      // "10m"), apps (a list; all of them without). Try it with: receiptctl alerts test.
      // alerts: [{ to: "file:/etc/receiptd/secrets/slack_url", on: ["breaker_open"], every: "10m" }],
      //alerts: [],

      // An address that is asked for at intervals while all is well; who is behind it raises the alarm when
      // that ends.
      // heartbeat: { to: "file:/etc/receiptd/secrets/heartbeat_url", every: "1m" },

      // One entry for each app. Its name is in every URL: /v1/ios/contexts, /v1/ios/webhooks/stripe.
      // Letters a to z, digits and hyphens; a name with a hyphen needs quotes.
      apps: {
        ios: {
          // Who may post contexts: clients with one of the keys or a token; or client: "open" for anyone.
          client: {
            // Required unless jwt stands here.
            keys: ["file:/etc/receiptd/secrets/client_key"],
            // Beside keys, or in their place: a signed token (JWT) of a user, for whom alone it lets post.
            // jwt: {
            //   // Its iss, and what must be in its aud.
            //   issuer: "https://id.example.com/",
            //   audience: "my-app",
            //   // Where the issuer has its keys; or keys: "file:/path", of a JWK Set or a public key in PEM.
            //   jwks: "https://id.example.com/jwks.json",
            //   // The claim that names the user; "sub" without it.
            //   user_claim: "sub",
            //   // How far clocks may be apart; "60s" without it.
            //   leeway: "60s",
            //   // What a key may sign with; these three without it.
            //   algorithms: ["RS256", "ES256", "HS256"],
            // },
          },

          // (the payment processors)

          purchasely: {
            // The application's API key, from Purchasely's console.
            api_key: "file:/etc/receiptd/secrets/purchasely_api_key",
            //url: "https://s2s.purchasely.io/receipts",
            // The client shared secret, to ask Purchasely to forget a user: receiptctl users forget.
            // client_secret: "file:/etc/receiptd/secrets/purchasely_client_secret",
          },

          // How a purchase finds its context, and how long it waits for what it lacks.
          join: {
            // How long before the payment a context may have been posted.
            //window: "24h",
            // How long the events of one checkout are waited for that are not here yet: the session, and the
            // price.
            //settle: "5s",
            // Which unused context of the user a purchase gets that names none: the newest whose price does
            // not contradict ("same_price"), the "newest" of any price, or "never" one.
            //guess: "same_price",
            //wait_for_context: "2m",
            // Afterwards: deliver without ply_context, or hold until a context or an operator comes.
            //without_context: "deliver",
            //wait_for_user: "24h",
            // Then the context's price is taken, whatever it looks like.
            //wait_for_stripe_price: "30s",
            //wait_for_price: "24h",
            // For payments that take days, such as bank debits.
            //wait_for_payment: "14d",
          },

          delivery: {
            // Deliveries at once, and per second.
            //concurrency: 8,
            //rate: 50,
            //timeout: "10s",
            //connect_timeout: "3s",
            retry: {
              // The pauses after the first, second, … failure; the last one repeats.
              //schedule: ["2s", "10s", "30s", "2m", "10m", "30m", "1h", "2h", "4h", "8h", "12h"],
              // Each pause is varied by this share either way.
              //jitter: 0.2,
              //give_up_after: "7d",
            },
            // This many failures in a row stop the app's deliveries for open_for; then one is tried.
            breaker: {
              //failures: 10,
              //open_for: "30s",
            },
            // Whether ply_context is sent.
            //forward_context: true,
          },

          // The way to the checkout page and back into the app. Without it the relay leads nobody anywhere.
          // links: {
          //   // The relay's public address. Every absolute address is made of it.
          //   origin: "https://pay.example.com",
          //   // Who may open links of this address: apple-app-site-association.
          //   ios: {
          //     app_ids: ["ABCDE12345.com.example.app"],
          //     // The second way back, which the app has registered.
          //     scheme: "exampleapp",
          //     // What opens the app, and "NOT …" what does not.
          //     paths: ["NOT /admin/*", "/*"],
          //     // Whether the app may use the passwords that are kept for this address; false without it.
          //     webcredentials: true,
          //   },
          //   // The same for Android: assetlinks.json.
          //   android: {
          //     packages: [{ name: "com.example.app", sha256_cert_fingerprints: ["AA:BB:…"] }],
          //   },
          //   // The page where each price is paid; POST /v1/ios/checkout leads there.
          //   checkout: { "price_…": "https://buy.stripe.com/…" },
          //   // What the page says that people come back to: GET /v1/ios/return?context_id=…
          //   return: {
          //     // As people know the app; its name here without it.
          //     name: "Example",
          //     ios_store: "https://apps.apple.com/…",
          //     android_store: "https://play.google.com/…",
          //   },
          //   // Swedbank Pay's payment URL helpers.
          //   swedbank: {
          //     // Where they may lead; without it to every scheme that an app may own.
          //     schemes: ["exampleapp"],
          //     // Without it to every package.
          //     packages: ["com.example.app"],
          //     // On another host than origin; Swedbank Pay's own without it.
          //     trampoline: "https://back.pay.example.com/v1/ios/trampoline",
          //     // 301 or 302; 301 without it.
          //     redirect: 301,
          //   },
          // },
        },
      },
    }

    """#
}
