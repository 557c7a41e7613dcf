// The stylesheet of the dashboard: one file, no fonts, no pictures; light and dark according to the system's
// setting. All text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3). Red is for failures that nobody has
// acknowledged, and for buttons that cannot be undone.

enum Stylesheet {
  static let text = colours + base + frame + live + parts + charts + tables + forms + narrow + other

  private static let colours = """
    :root {
      color-scheme: light dark; accent-color: var(--link);
      --page: #f7f8fa; --surface: #ffffff; --sunken: #f1f3f6; --line: #e1e5ea; --strong-line: #87919d;
      --text: #1a1f26; --soft: #545d69; --link: #0f5bb5; --focus: #0f5bb5; --on-link: #ffffff;
      --good: #17703a; --good-soft: #e3f4e9; --bad: #b3261e; --bad-soft: #fce9e7;
      --pending: #855000; --pending-soft: #fdf1dc; --waiting: #0b6280; --waiting-soft: #e2f2f8;
      --ended: #545d69; --ended-soft: #eceff2; --bar-good: #2d9a5b; --bar-bad: #d4483e;
      --chosen: #e6eefa;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #0e1116; --surface: #14181f; --sunken: #1b2029; --line: #282f39; --strong-line: #6b7684;
        --text: #e7ebf0; --soft: #a3adba; --link: #79b4ff; --focus: #79b4ff; --on-link: #0b1220;
        --good: #6ad493; --good-soft: #12301f; --bad: #ff9a90; --bad-soft: #3a1a18;
        --pending: #f0bf62; --pending-soft: #33270f; --waiting: #78cdee; --waiting-soft: #10303c;
        --ended: #a3adba; --ended-soft: #242b35; --bar-good: #3fb472; --bar-bad: #f0675c;
        --chosen: #1b2a40;
      }
    }

    """

  private static let base = """
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
    body {
      margin: 0; background: var(--page); color: var(--text); font-size: 0.9375rem; line-height: 1.5;
      font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
    }
    h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0; padding: 0; }
    ul, ol { list-style: none; }
    h1 { font-size: 1.25rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em; }
    h2 { font-size: 1rem; line-height: 1.35; font-weight: 650; }
    h3 { font-size: 0.8125rem; font-weight: 600; }
    a { color: var(--link); text-underline-offset: 0.18em; text-decoration-thickness: 1px; }
    a:hover { text-decoration-thickness: 2px; }
    code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; }
    code { font-size: 0.9em; overflow-wrap: anywhere; user-select: all; -webkit-user-select: all; }
    pre code { user-select: text; -webkit-user-select: text; }
    .short { white-space: nowrap; }
    .short span { display: inline-block; max-width: 9.2ch; overflow: hidden; text-overflow: ellipsis;
      vertical-align: bottom; text-decoration: inherit; }
    a .short { text-decoration: inherit; }
    a .short bdi { text-decoration: inherit; }
    bdi { overflow-wrap: anywhere; }
    table bdi, table code { overflow-wrap: break-word; }
    :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
    main:focus { outline: none; }
    @media (prefers-reduced-motion: no-preference) {
      a, button, .tile { transition: background-color 120ms, border-color 120ms; }
    }

    """
}

// MARK: - Tables

// Tables, lists of facts, and forms.

extension Stylesheet {
  static let tables = """
    table { width: 100%; border-collapse: collapse; background: var(--surface); font-size: 0.875rem; }
    main > table { border: 1px solid var(--line); border-radius: 8px; border-collapse: separate;
      border-spacing: 0; }
    main > table thead th:first-child { border-top-left-radius: 7px; }
    main > table thead th:last-child { border-top-right-radius: 7px; }
    main > table tbody tr:last-child > :first-child { border-bottom-left-radius: 7px; }
    main > table tbody tr:last-child > :last-child { border-bottom-right-radius: 7px; }
    caption { text-align: left; font-size: 0.8125rem; color: var(--soft); padding: 0 0 0.4rem; }
    caption h2 { color: var(--text); }
    th, td { text-align: left; vertical-align: top; padding: 0.42rem 0.75rem; font-weight: 400;
      border-top: 1px solid var(--line); }
    thead th { border-top: 0; font-size: 0.8125rem; font-weight: 600; color: var(--soft);
      background: var(--sunken); white-space: nowrap; }
    tbody tr:hover > * { background: var(--sunken); }
    .long bdi, .long code { overflow-wrap: anywhere; }
    .long { min-width: 8rem; }
    tbody th code { white-space: nowrap; }
    .number { text-align: right; font-variant-numeric: tabular-nums; }
    td time, th time { white-space: nowrap; }
    details table { font-size: 0.8125rem; }
    details th, details td { padding: 0.25rem 0.5rem; }
    dl { display: grid; gap: 0; }
    dl > div { display: grid; grid-template-columns: 9rem 1fr; gap: 0 1.5rem; padding: 0.3rem 0;
      border-top: 1px solid var(--line); }
    dl > div:first-child { border-top: 0; }
    dt { color: var(--soft); overflow-wrap: anywhere; }
    dd { min-width: 0; overflow-wrap: anywhere; }
    .settings dl > div { grid-template-columns: minmax(9rem, 22rem) 1fr; }
    table :is(.none, .reason, .meaning) { font-size: inherit; }

    """

  static let forms = """
    .filters { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: end; }
    .filters > .field { flex: 1 1 11rem; max-width: 18rem; min-width: 0; }
    .filter-end { display: flex; flex-wrap: wrap; gap: 0.4rem 1rem; align-items: center; margin-top: 0.6rem; }
    .filter-end details[open] { flex-basis: 100%; }
    .field { display: grid; gap: 0.2rem; }
    label { font-size: 0.8125rem; font-weight: 600; color: var(--soft); }
    input, select {
      font: inherit; font-size: 0.875rem; color: var(--text); background: var(--surface); width: 100%;
      min-height: 2.1rem; padding: 0.25rem 0.6rem; border: 1px solid var(--strong-line); border-radius: 6px;
    }
    [aria-invalid] { border-color: var(--bad); box-shadow: 0 0 0 1px var(--bad); }
    .help { font-size: 0.8125rem; color: var(--soft); }
    .find { display: flex; gap: 0.5rem; margin-left: auto; padding: 0.45rem 0; flex: 0 1 20rem; }
    .find input { min-width: 0; }
    input::placeholder { color: var(--soft); opacity: 1; }
    .find button { color: var(--text); background: transparent; border-color: var(--strong-line); }
    button, .button {
      display: inline-flex; align-items: center; justify-content: center; font: inherit; font-size: 0.875rem;
      font-weight: 600; color: var(--on-link); background: var(--link); border: 1px solid var(--link);
      border-radius: 6px; min-height: 2.1rem; padding: 0.25rem 0.9rem; text-decoration: none; cursor: pointer;
    }
    button:hover, .button:hover { filter: brightness(1.08); }
    .button.quiet { color: var(--text); background: transparent; border-color: var(--strong-line); }
    .danger { background: var(--bad); border-color: var(--bad); }
    .button.quiet.danger { color: var(--bad); border-color: var(--bad); }
    .button.small { min-height: 1.75rem; padding: 0.1rem 0.6rem; font-size: 0.8125rem; }
    .actions { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: center; }
    .confirm, main:has(> .confirm) > .lead { max-width: 40rem; }
    .choices { border: 0; margin: 0; padding: 0; display: grid; gap: 0.4rem; }
    .choices label { display: flex; gap: 0.6rem; align-items: baseline; font-weight: 400; color: var(--text);
      font-size: 0.875rem; padding: 0.2rem 0; }
    .choices input { width: 1.5rem; min-height: 1.5rem; flex: none; margin: 0; align-self: center; }
    legend { font-size: 0.8125rem; font-weight: 600; color: var(--soft); padding: 0 0 0.3rem; }
    [role=search] > .actions { margin-top: 0.6rem; }
    .summary { color: var(--soft); font-size: 0.875rem; }
    .list-summary { display: flex; flex-wrap: wrap; gap: 0 1rem; }
    .tabs { display: flex; flex-wrap: wrap; gap: 0.3rem; }
    .tabs a { padding: 0.3rem 0.75rem; border: 1px solid var(--line); border-radius: 6px; color: var(--text);
      text-decoration: none; }
    .tabs a[aria-current] { background: var(--chosen); font-weight: 600; }
    .pages { display: flex; gap: 1.5rem; }
    .pages .next { margin-left: auto; }

    """
}

// MARK: - Frame

// The frame of the pages: header, navigation, content; and the numbers that stay current.

extension Stylesheet {
  static let frame = """
    .page { min-height: 100vh; display: grid; grid-template-rows: auto 1fr auto;
      grid-template-columns: minmax(0, 1fr); }
    .skip { position: absolute; left: -100rem; top: 0.5rem; padding: 0.5rem 1rem; background:
      var(--surface); }
    .skip:focus { left: 0.5rem; z-index: 3; }
    .top { background: var(--surface); border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap;
      align-items: center; gap: 0 1rem; padding: 0 1.5rem; }
    .brand {
      display: inline-flex; align-items: center; gap: 0.6rem; padding: 0.7rem 0; font-weight: 650;
      color: var(--text); text-decoration: none; white-space: nowrap;
    }
    .mark { width: 1.3rem; height: 1.3rem; background: url("/icon.svg") center / contain no-repeat; }
    .rail { display: none; }
    .menu { margin-left: auto; }
    .menu summary { padding: 0.5rem 0.75rem; font-weight: 600; color: var(--text); font-size: 0.9375rem;
      border: 1px solid var(--line); border-radius: 8px; }
    .menu details[open] summary { margin-bottom: 0.4rem; }
    .group { padding: 0.9rem 0.75rem 0.25rem; font-size: 0.75rem; font-weight: 600; color: var(--soft); }
    nav li a { display: block; padding: 0.32rem 0.75rem; color: var(--text); text-decoration: none;
      border-radius: 6px; }
    nav li a:hover { background: var(--sunken); }
    nav li a[aria-current] { background: var(--chosen); font-weight: 600; }
    main { width: 100%; max-width: 84rem; padding: 1.5rem 1.5rem 3rem; display: grid; gap: 1.1rem;
      align-content: start; }
    main > * { min-width: 0; }
    footer { padding: 0 1.5rem 2rem; color: var(--soft); font-size: 0.8125rem; }
    @media (min-width: 64rem) {
      .page { grid-template: "top top" auto "rail main" 1fr "rail footer" auto / 13rem minmax(0, 1fr); }
      .top { grid-area: top; position: sticky; top: 0; z-index: 2; flex-wrap: nowrap; padding: 0 1.5rem 0 0; }
      .brand { width: 13rem; flex: none; padding-left: 1.25rem; }
      .menu { display: none; }
      .rail { grid-area: rail; display: block; padding: 0.4rem 0.5rem 2rem; background: var(--surface);
        border-right: 1px solid var(--line); }
      .rail > ul, .rail > p { position: relative; }
      main { grid-area: main; padding-left: 2rem; padding-right: 2rem; }
      footer { grid-area: footer; padding-left: 2rem; }
    }

    """

  static let live = """
    iframe { display: block; width: 100%; border: 0; background: transparent; color-scheme: light dark; }
    .strip { display: flex; flex: 1 1 20rem; min-width: 0; align-items: center; gap: 1rem; font-size:
      0.8125rem; color: var(--soft); }
    .strip iframe { flex: 1 1 auto; min-width: 0; height: 1.5rem; }
    .strip a { white-space: nowrap; color: var(--soft); line-height: 1.5rem; display: inline-block; }
    .strip p { flex: 1; }
    body:has(> .live) { background: transparent; overflow: hidden; }
    .strip-line { font-size: 0.8125rem; line-height: 1.5rem; color: var(--soft); white-space: nowrap;
      overflow: hidden; text-overflow: ellipsis; font-variant-numeric: tabular-nums; }
    @media (max-width: 28rem) {
      .strip-line { white-space: normal; }
      .strip-line .more { display: none; }
    }
    .light::before { content: ""; display: inline-block; width: 0.55rem; height: 0.55rem; border-radius: 50%;
      margin-right: 0.4rem; background: var(--bar-good); }
    .light.bad { color: var(--bad); font-weight: 650; }
    .light.bad::before { background: var(--bar-bad); border-radius: 2px; }
    .alarm { color: var(--bad); }
    .live-block { container-type: inline-size; }
    .live-block .on-paper { display: none; }
    .numbers { display: grid; grid-template-columns: repeat(2, 1fr); gap: 1px; background: var(--line);
      border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
    .numbers li { background: var(--surface); padding: 0.45rem 0.9rem 0.5rem; min-width: 0; }
    .numbers .name { display: block; font-size: 0.8125rem; color: var(--soft); white-space: nowrap; }
    .numbers .value { display: block; font-size: 1.25rem; font-weight: 600; line-height: 1.3;
      font-variant-numeric: tabular-nums; white-space: nowrap; }
    .numbers .zero { color: var(--soft); font-weight: 500; }
    .numbers .age { font-size: 0.8125rem; font-weight: 400; color: var(--soft); }
    .live-numbers iframe { height: 12.2rem; }
    .live-job iframe { height: 4.6rem; }
    .live-job, .live { font-variant-numeric: tabular-nums; }
    @container (min-width: 40rem) {
      .live-numbers iframe { height: 8.2rem; }
      .live-job iframe { height: 2.9rem; }
    }
    @container (min-width: 60rem) { .live-numbers iframe { height: 4.2rem; } }
    @media (min-width: 40rem) { .live .numbers { grid-template-columns: repeat(3, 1fr); } }
    @media (min-width: 60rem) { .live .numbers { grid-template-columns: repeat(6, 1fr); } }
    @container (min-width: 40rem) { .numbers { grid-template-columns: repeat(3, 1fr); } }
    @container (min-width: 60rem) { .numbers { grid-template-columns: repeat(6, 1fr); } }

    """
}

// MARK: - Narrow

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
      .charts { grid-template-columns: minmax(0, 1fr); }
      .filters { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); }
      .filters > .field { max-width: none; }
      .filters .actions { grid-column: 1 / -1; }
      input, select, button, .button { min-height: 2.5rem; font-size: 1rem; }
      .timeline li { grid-template-columns: 1fr; }
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
      :is(main, .card) > table tbody th code:not(.short) { white-space: normal; overflow-wrap: anywhere; }
      :is(main, .card) > table td { display: grid; grid-template-columns: 6rem 1fr; gap: 0 0.75rem; }
      :is(main, .card) > table td::before { content: attr(data-label); color: var(--soft); font-size:
        0.8125rem; }
      main > .list-receipts tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 0.75rem; }
      main > .list-receipts td { display: block; }
      main > .list-receipts td::before { content: none; }
      main > .list-receipts :is([data-label="Last answer"], [data-label="Attempts"],
        [data-label="Processor"]) { display: none; }
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
      .rail, .menu, .find, .strip, .skip, .crumb, .actions, .row-actions, .button, .pages, .tabs, form,
      iframe { display: none; }
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

// MARK: - Parts

// What pages are made of: cards, badges, notices, tiles, timelines, charts.

extension Stylesheet {
  static let parts = """
    .card {
      background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem;
      display: grid; gap: 0.8rem;
    }
    .card > * { min-width: 0; }
    .part { display: grid; gap: 0.6rem; }
    .head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 1rem; }
    .lead { color: var(--soft); max-width: 52rem; }
    .crumb { font-size: 0.875rem; margin-bottom: -0.8rem; }
    .crumb::before { content: "← "; color: var(--soft); }
    h1.id { font-size: 1.1rem; overflow-wrap: anywhere; }
    a.id { text-decoration-color: var(--strong-line); }
    a.portal { font-size: 0.8125rem; white-space: nowrap; color: var(--soft); }
    .empty { padding: 2rem; text-align: center; color: var(--soft); border: 1px dashed var(--line);
      border-radius: 8px; }
    .badge {
      display: inline-block; padding: 0.05rem 0.5rem; border-radius: 5px; font-size: 0.8125rem;
      font-weight: 600; white-space: nowrap; color: var(--ended); background: var(--ended-soft);
    }
    .badge.delivered { color: var(--good); background: var(--good-soft); }
    :is(.badge.failed, .badge.alarm) { color: var(--bad); background: var(--bad-soft); }
    .badge.pending { color: var(--pending); background: var(--pending-soft); }
    .badge.waiting { color: var(--waiting); background: var(--waiting-soft); }
    .reason, .none, .meaning { color: var(--soft); font-size: 0.875rem; }
    .reason-name { display: block; font-weight: 600; }
    .meaning { font-weight: 400; }
    .notice { padding: 0.6rem 0.9rem; border-radius: 6px; border-left: 4px solid; }
    .notice.good { background: var(--good-soft); border-color: var(--good); }
    .notice.bad { background: var(--bad-soft); border-color: var(--bad); }
    .notice.pending { background: var(--pending-soft); border-color: var(--pending); }
    .troubles { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; }
    .troubles li { padding: 0.6rem 1rem; border-top: 1px solid var(--line); border-left: 4px solid var(--bad);
      display: flex; flex-wrap: wrap; gap: 0.4rem 1rem; align-items: center; }
    .troubles li > div { flex: 1 1 24rem; min-width: 0; display: grid; gap: 0.1rem; }
    .troubles li.pending { border-left-color: var(--pending); }
    .troubles li:first-child { border-top: 0; border-top-left-radius: 8px; }
    .troubles li:last-child { border-bottom-left-radius: 8px; }
    .troubles .next { color: var(--soft); font-size: 0.875rem; }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.5rem; }
    .tile {
      display: block; height: 100%; padding: 0.45rem 0.8rem 0.55rem; border: 1px solid var(--line);
      border-radius: 8px; color: var(--text); text-decoration: none; background: var(--surface);
    }
    a.tile:hover { background: var(--sunken); border-color: var(--strong-line); }
    .tile .name { display: block; font-size: 0.8125rem; color: var(--soft); }
    .tile .value { display: block; font-size: 1.25rem; font-weight: 600; line-height: 1.3;
      font-variant-numeric: tabular-nums; }
    .tile.zero .value { color: var(--soft); font-weight: 500; }
    .tile.alarm { border-color: var(--bad); }
    .tile.alarm .value { color: var(--bad); }
    progress { display: block; width: 100%; max-width: 30rem; height: 0.5rem; margin-top: 0.5rem; border: 0;
      border-radius: 4px; overflow: hidden; appearance: none; background: var(--line); color: var(--link); }
    progress::-webkit-progress-bar { background: var(--line); }
    progress::-webkit-progress-value { background: var(--link); min-width: 3px; }
    progress::-moz-progress-bar { background: var(--link); }
    .row-actions { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; }
    @media (min-width: 88rem) {
      .row-actions { flex-wrap: nowrap; white-space: nowrap; }
      .row-actions .meaning { white-space: normal; }
    }
    summary { cursor: pointer; font-size: 0.875rem; color: var(--link); width: fit-content; padding: 0.3rem
      0; }
    .timeline { border-left: 2px solid var(--line); margin-left: 0.4rem; display: grid; gap: 0.4rem; }
    .timeline li { position: relative; padding-left: 1.4rem; display: grid;
      grid-template-columns: 12rem 1fr; gap: 0 1.5rem; }
    .timeline li::before { content: ""; position: absolute; left: -0.45rem; top: 0.4rem; width: 0.75rem;
      height: 0.75rem; border-radius: 50%; background: var(--surface); border: 2px solid var(--strong-line); }
    .timeline li.good::before { background: var(--good); border-color: var(--good); }
    .timeline li.bad::before { background: var(--bad); border-color: var(--bad); border-radius: 2px; }
    .timeline li.pending::before { border-color: var(--pending); }
    .timeline li.waiting::before { border-color: var(--waiting); }
    .timeline time { font-size: 0.875rem; font-variant-numeric: tabular-nums; }
    .step { min-width: 0; overflow-wrap: anywhere; }
    .rows li { padding: 0.3rem 0; border-top: 1px solid var(--line); font-size: 0.875rem; }
    .rows li:first-child { border-top: 0; }
    .raw { background: var(--sunken); border-radius: 6px; padding: 0.7rem 1rem; overflow: auto;
      max-height: 32rem; }
    .raw pre { font-size: 0.8125rem; white-space: pre; }
    .raw code { font-size: inherit; overflow-wrap: normal; }

    """

  static let charts = """
    .charts { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.25rem 2.5rem; }
    .chart { min-width: 0; }
    .chart details { overflow-x: auto; }
    .chart-head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem;
      margin-bottom: 0.5rem; font-size: 0.875rem; color: var(--soft); }
    .chart-head h3, .chart-head h2 { color: var(--text); font-size: 0.875rem; }
    .key { white-space: nowrap; margin-left: 0.6rem; font-variant-numeric: tabular-nums; }
    .key::before { content: ""; display: inline-block; width: 0.6rem; height: 0.6rem; border-radius: 2px;
      margin-right: 0.35rem; }
    .key.good::before { background: var(--bar-good); }
    .key.bad::before { background: var(--bar-bad); }
    svg { display: block; width: 100%; height: 6.5rem; }
    svg.spark { width: 6.5rem; height: 1.4rem; }
    rect.good { fill: var(--bar-good); }
    rect.bad { fill: var(--bar-bad); }
    .key.fair::before { background: var(--waiting); }
    .key.guess::before { background: var(--pending); }
    .key.ended::before { background: var(--ended); }
    rect.fair { fill: var(--waiting); }
    rect.guess { fill: var(--pending); }
    rect.ended { fill: var(--ended); }
    .key.disputed::before { background: var(--text); }
    rect.disputed { fill: var(--text); }
    .plot { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 0.5rem; }
    .plot .axis { grid-column: 2; }
    .chart > .meaning { padding-top: 0.4rem; }
    div.scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right;
      font-size: 0.75rem; color: var(--soft); font-variant-numeric: tabular-nums; }
    .key.half::before { background: var(--link); }
    .key.most::before { background: var(--soft); }
    line.half, line.most { stroke: var(--link); stroke-width: 2.5; stroke-linecap: round;
      vector-effect: non-scaling-stroke; }
    line.most { stroke: var(--soft); }
    line.dot { stroke-width: 7; }
    line.grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
    .scaled { display: flex; }
    .scaled svg { min-width: 0; }
    svg.scale { width: 4.875rem; flex: none; fill: var(--soft); font-size: 9px; }
    .scaled-axis { padding-left: 4.875rem; }
    line.base { stroke: var(--strong-line); stroke-width: 1; vector-effect: non-scaling-stroke; }
    .quiet-chart { color: var(--soft); font-size: 0.875rem; padding: 0.6rem 0.9rem; background: var(--sunken);
      border-radius: 8px; }
    .axis { display: flex; justify-content: space-between; font-size: 0.75rem; color: var(--soft);
      padding-top: 0.25rem; font-variant-numeric: tabular-nums; }

    """
}
