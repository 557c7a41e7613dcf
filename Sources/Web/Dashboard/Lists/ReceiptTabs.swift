// The states of receipts as tabs of their list, with how many there are, and what can be done with those that
// are listed. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct ReceiptTabs {
  let search: ListSearch<ReceiptFilter>
  let counts: [ReceiptCount]
  let mayChange: Bool

  /// Those that the other fields of the form choose, as far as they are counted.
  private func counted(without name: String) -> [ReceiptCount] {
    func fits(_ field: String, _ value: String) -> Bool {
      field == name || search[field].map { $0 == value } ?? true
    }
    return counts.filter { count in
      fits("app", count.app.text) && fits("processor", count.processor.text)
        && fits("state", count.state.rawValue) && fits("reason", count.reason)
    }
  }

  /// How many receipts each choice of a field would list.
  var choices: [String: [String: Int64]] {
    func sums(_ name: String, _ value: (ReceiptCount) -> String) -> [String: Int64] {
      counted(without: name).reduce(into: [:]) { sums, count in
        let value = value(count)
        if !value.isEmpty { sums[value, default: 0] += count.count }
      }
    }
    return [
      "app": sums("app") { $0.app.text }, "processor": sums("processor") { $0.processor.text },
      "reason": sums("reason") { $0.reason },
    ]
  }

  var html: HTML {
    let all = counted(without: "state")
    return HTML {
      Tag.nav(.class("tabs"), .label("States")) {
        tab(nil, all)
        for state in [ReceiptState.waiting, .pending, .failed, .delivered, .cancelled] {
          tab(state, all.filter { $0.state == state })
        }
      }
      if mayChange, search["state"] == ReceiptState.failed.rawValue, !counted(without: "").isEmpty {
        Tag.p(.class("actions")) {
          Tag.a(
            .class("button quiet small"),
            .href(Link("replay", query: search.given.map { ($0.field.queryName, $0.text) }))
          ) { "Replay these…" }
        }
      }
    }
  }

  private func tab(_ state: ReceiptState?, _ counts: [ReceiptCount]) -> HTML {
    Tag.a(.href(search.link("state", state?.rawValue)), .current(search["state"] == state?.rawValue)) {
      state?.rawValue ?? "all"
      // Other fields are not counted.
      if search.given.allSatisfy({ ["app", "processor", "state", "reason"].contains($0.field.name) }) {
        " "
        Tag.span(.class("none")) { PageParts.number(counts.reduce(0) { $0 + $1.count }) }
      }
    }
  }
}
