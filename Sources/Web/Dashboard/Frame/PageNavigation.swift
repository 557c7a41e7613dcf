// The navigation of every page: a rail beside the content on a wide screen, a menu on a narrow one. Pure;
// called from any thread.

internal import Formats

struct PageNavigation {
  /// What a group of pages is for.
  enum Group: String, CaseIterable {
    case now = "Now"
    case find = "Find"
    case work = "Work"
    case setup = "Set up"
  }

  /// The page that is shown; nil for one that is not in the navigation.
  let place: DashboardPage.Place?

  var rail: HTML { Tag.nav(.class("rail"), .label("Main")) { groups } }

  var menu: HTML {
    Tag.nav(.class("menu"), .label("Main")) {
      Tag.details {
        Tag.summary {
          "Menu"
          if let place { Tag.span(.class("none")) { " · \(place.rawValue)" } }
        }
        groups
      }
    }
  }

  private var groups: HTML {
    HTML {
      for group in Group.allCases {
        Tag.p(.class("group"), .hiddenFromReaders()) { group.rawValue }
        Tag.ul(.label(group.rawValue)) {
          for place in DashboardPage.Place.allCases.filter({ $0.group == group }) {
            Tag.li { Tag.a(.href(place.link), .current(place == self.place)) { place.rawValue } }
          }
        }
      }
    }
  }
}
