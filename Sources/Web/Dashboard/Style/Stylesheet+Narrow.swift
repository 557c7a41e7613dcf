// Phones, paper, and colours that the reader chooses.

extension Stylesheet {
  static let narrow = """
    @media (max-width: 80rem) {
      thead th { white-space: normal; }
      main > table { font-size: 0.8125rem; }
      main > table th, main > table td { padding: 0.4rem 0.45rem; }
      svg.spark { width: 4rem; }
      main { padding-left: 1.5rem; padding-right: 1.5rem; }
    }
    @media (max-width: 64rem) {
      .strip { order: 5; flex: 1 0 100%; padding: 0.2rem 0; border-top: 1px solid var(--line);
        margin: 0 -1.5rem; padding-left: 1.5rem; padding-right: 1.5rem; width: calc(100% + 3rem); }
    }
    @media screen and (max-width: 52rem) {
      .top, main, footer { padding-left: 1rem; padding-right: 1rem; }
      .strip { margin: 0 -1rem; padding-left: 1rem; padding-right: 1rem; width: calc(100% + 2rem); }
      .strip iframe { height: 3rem; }
      .top { padding-top: 0.4rem; row-gap: 0.4rem; }
      .brand { padding: 0.3rem 0; }
      .menu:has(details[open]) { width: 100%; order: 3; }
      .menu ul { display: grid; grid-template-columns: repeat(2, 1fr); }
      .menu li a { padding: 0.55rem 0.75rem; }
      .find { width: 100%; flex: none; order: 4; padding: 0 0 0.5rem; }
      main { padding-top: 1rem; gap: 0.9rem; }
      .card { padding: 0.8rem 1rem; }
      .tiles { grid-template-columns: repeat(2, 1fr); }
      .charts { grid-template-columns: 1fr; }
      .filters { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); }
      .filters > .field { max-width: none; }
      .filters .actions { grid-column: 1 / -1; }
      input, select, button, .button { min-height: 2.5rem; font-size: 1rem; }
      .timeline li { grid-template-columns: 1fr; }
      .exact, .ago { display: inline; }
      dl > div { grid-template-columns: 7rem 1fr; gap: 0 0.75rem; }
      .settings dl > div { grid-template-columns: 1fr; }
      :is(main, .card) > table, :is(main, .card) > table :is(tbody, tr, th, td) { display: block; }
      :is(main, .card) > table thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
        clip-path: inset(50%); }
      :is(main, .card) > table, :is(main, .card) > table caption { border: 0; background: transparent;
        display: block; }
      :is(main, .card) > table tr { background: var(--surface); border: 1px solid var(--line); border-radius:
        8px; padding: 0.5rem 0.9rem; margin-bottom: 0.5rem; }
      :is(main, .card) > table :is(th, td) { border: 0; padding: 0.15rem 0; text-align: left; }
      :is(main, .card) > table .number { text-align: left; }
      :is(main, .card) > table tbody th code { white-space: normal; overflow-wrap: anywhere; }
      :is(main, .card) > table td { display: grid; grid-template-columns: 6rem 1fr; gap: 0 0.75rem; }
      :is(main, .card) > table td::before { content: attr(data-label); color: var(--soft); font-size:
        0.8125rem; }
      :is(main, .card) > table td > * { min-width: 0; justify-self: start; grid-column: 2; }
    }

    """

  static let other = """
    @media screen and (max-width: 22rem) { .strip iframe { height: 4.5rem; } }
    @media (forced-colors: active) {
      rect.good { fill: CanvasText; }
      rect.bad { fill: Mark; }
      .badge, .notice, .card, .tile, .numbers li { border: 1px solid; }
      progress { appearance: auto; }
    }
    @media print {
      :root { color-scheme: light; --page: #ffffff; --surface: #ffffff; --sunken: #ffffff; --line: #bbbbbb;
        --text: #000000; --soft: #333333; --link: #000000; --good: #000000; --bad: #000000;
        --pending: #000000; --waiting: #000000; --ended: #000000; --good-soft: #ffffff; --bad-soft: #ffffff;
        --pending-soft: #ffffff; --waiting-soft: #ffffff; --ended-soft: #ffffff; }
      .page { display: block; }
      .rail, .menu, .find, .strip, .skip, .crumb, .actions, .row-actions, .pages, form, iframe {
        display: none; }
      .live-block .on-paper { display: block; }
      .top { position: static; border: 0; padding: 0; }
      main { padding: 0.5rem 0; max-width: none; display: block; }
      main > * { margin-bottom: 0.8rem; }
      details::details-content { content-visibility: visible; block-size: auto; }
      .raw { max-height: none; overflow: visible; }
      .raw pre { white-space: pre-wrap; }
      tr, li, .card { break-inside: avoid; }
      thead { display: table-header-group; }
      thead th { white-space: normal; }
      main > table { font-size: 0.6875rem; }
      main > table th, main > table td { padding: 0.2rem 0.3rem; }
      main > table :is(.badge, thead th) { font-size: inherit; }
      svg.spark { width: 3rem; }
      footer { padding: 0; }
      a { text-decoration: none; }
      .badge { border: 1px solid; padding: 0 0.3rem; }
    }

    """
}
