// The stylesheet of the dashboard: one file, no fonts, no pictures; light and dark according to the system's
// setting. All text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3).

enum Stylesheet {
  static let text = colours + base + layout + parts + tables + forms + narrow

  private static let colours = """
    :root {
      color-scheme: light dark;
      --page: #f5f6f8; --surface: #ffffff; --sunken: #f0f2f5; --line: #dbe0e6; --strong-line: #87919d;
      --text: #1a1f26; --soft: #545d69; --link: #0f5bb5; --focus: #0f5bb5; --on-link: #ffffff;
      --good: #17703a; --good-soft: #e3f4e9; --bad: #b3261e; --bad-soft: #fce9e7;
      --pending: #855000; --pending-soft: #fdf1dc; --waiting: #0b6280; --waiting-soft: #e2f2f8;
      --ended: #545d69; --ended-soft: #eceff2; --bar-good: #2d9a5b; --bar-bad: #d4483e;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #0e1116; --surface: #161b22; --sunken: #1c222b; --line: #2a323d; --strong-line: #6b7684;
        --text: #e7ebf0; --soft: #a3adba; --link: #79b4ff; --focus: #79b4ff; --on-link: #0b1220;
        --good: #6ad493; --good-soft: #12301f; --bad: #ff9a90; --bad-soft: #3a1a18;
        --pending: #f0bf62; --pending-soft: #33270f; --waiting: #78cdee; --waiting-soft: #10303c;
        --ended: #a3adba; --ended-soft: #242b35; --bar-good: #3fb472; --bar-bad: #f0675c;
      }
    }

    """

  private static let base = """
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
    body {
      margin: 0; background: var(--page); color: var(--text); font-size: 16px; line-height: 1.5;
      font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
    }
    h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0; padding: 0; }
    ul, ol { list-style: none; }
    h1 { font-size: 1.6rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; }
    h2 { font-size: 1.15rem; line-height: 1.3; font-weight: 650; }
    h3 { font-size: 0.9rem; font-weight: 600; }
    a { color: var(--link); text-underline-offset: 0.18em; text-decoration-thickness: 1px; }
    a:hover { text-decoration-thickness: 2px; }
    code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; }
    code { font-size: 0.875em; overflow-wrap: anywhere; }
    bdi { overflow-wrap: anywhere; }
    table bdi, table code { overflow-wrap: break-word; }
    :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
    main:focus { outline: none; }
    @media (prefers-reduced-motion: no-preference) {
      a, button, .tile { transition: background-color 120ms, border-color 120ms; }
    }

    """

  private static let layout = """
    .skip { position: absolute; left: -100rem; top: 0.5rem; padding: 0.5rem 1rem; background:
      var(--surface); }
    .skip:focus { left: 0.5rem; z-index: 1; }
    .top { background: var(--surface); border-bottom: 1px solid var(--line); }
    .bar {
      max-width: 76rem; margin: 0 auto; padding: 0 1.5rem; display: flex; flex-wrap: wrap;
      align-items: center; column-gap: 2.5rem;
    }
    .brand {
      display: inline-flex; align-items: center; gap: 0.6rem; padding: 0.9rem 0; font-weight: 650;
      color: var(--text); text-decoration: none;
    }
    .mark { width: 1.4rem; height: 1.4rem; background: url("/icon.svg") center / contain no-repeat; }
    nav ul { display: flex; flex-wrap: wrap; column-gap: 0.25rem; }
    header nav a {
      display: block; padding: 0.95rem 0.75rem; color: var(--soft); text-decoration: none; font-weight: 500;
      border-bottom: 3px solid transparent; margin-bottom: -1px;
    }
    header nav a:hover { color: var(--text); border-color: var(--line); }
    header nav a[aria-current] { color: var(--text); border-color: var(--link); }
    main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; display: grid; gap: 1.25rem; }
    main > * { min-width: 0; }
    footer { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem 2.5rem; color: var(--soft); font-size:
      0.875rem; }
    .card {
      background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem 1.5rem;
      display: grid; gap: 1.1rem;
    }
    .card-head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; }
    .lead { color: var(--soft); max-width: 48rem; }
    .crumb { font-size: 0.9rem; margin-bottom: -0.9rem; }
    .crumb::before { content: "← "; color: var(--soft); }
    .id { font-size: 1.2rem; overflow-wrap: anywhere; }
    .empty { padding: 2.5rem; text-align: center; color: var(--soft); border: 1px dashed var(--line);
      border-radius: 12px; }

    """

  private static let parts = """
    .badge {
      display: inline-block; padding: 0.1rem 0.6rem; border-radius: 99px; font-size: 0.8125rem;
      font-weight: 600; white-space: nowrap; color: var(--ended); background: var(--ended-soft);
    }
    .badge.delivered { color: var(--good); background: var(--good-soft); }
    .badge.failed { color: var(--bad); background: var(--bad-soft); }
    .badge.pending { color: var(--pending); background: var(--pending-soft); }
    .badge.waiting { color: var(--waiting); background: var(--waiting-soft); }
    .reason, .none, .meaning { color: var(--soft); font-size: 0.875rem; }
    .reason-name { display: block; }
    .meaning { font-weight: 400; }
    .notice { padding: 0.8rem 1rem; border-radius: 8px; border-left: 4px solid; }
    .notice.good { background: var(--good-soft); border-color: var(--good); }
    .notice.bad { background: var(--bad-soft); border-color: var(--bad); }
    .notice.pending { background: var(--pending-soft); border-color: var(--pending); }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.6rem; }
    .tile {
      display: block; height: 100%; padding: 0.6rem 0.9rem 0.7rem; border: 1px solid var(--line);
      border-radius: 9px; color: var(--text); text-decoration: none; background: var(--surface);
    }
    a.tile:hover { background: var(--sunken); border-color: var(--strong-line); }
    .tile .name { display: block; font-size: 0.8125rem; color: var(--soft); }
    .tile .value { display: block; font-size: 1.35rem; font-weight: 600; line-height: 1.3;
      font-variant-numeric: tabular-nums; }
    .tile.zero .value { color: var(--soft); font-weight: 500; }
    progress { width: 100%; max-width: 30rem; height: 0.75rem; accent-color: var(--link); }
    .row-actions { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; }
    .tile.failed { border-color: var(--bad); }
    .tile.failed .value { color: var(--bad); }
    .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1.5rem
      2.5rem; }
    .chart { min-width: 0; }
    .chart-head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem;
      margin-bottom: 0.5rem; font-size: 0.875rem; color: var(--soft); }
    .chart-head h3 { color: var(--text); }
    .key { white-space: nowrap; margin-left: 0.6rem; font-variant-numeric: tabular-nums; }
    .key::before { content: ""; display: inline-block; width: 0.6rem; height: 0.6rem; border-radius: 2px;
      margin-right: 0.35rem; }
    .key.good::before { background: var(--bar-good); }
    .key.bad::before { background: var(--bar-bad); }
    svg { display: block; width: 100%; height: 6.5rem; }
    rect.good { fill: var(--bar-good); }
    rect.bad { fill: var(--bar-bad); }
    line.base { stroke: var(--strong-line); stroke-width: 1; vector-effect: non-scaling-stroke; }
    .quiet-chart { color: var(--soft); font-size: 0.875rem; padding: 0.6rem 0.9rem; background: var(--sunken);
      border-radius: 8px; }
    .axis { display: flex; justify-content: space-between; font-size: 0.75rem; color: var(--soft);
      padding-top: 0.25rem; font-variant-numeric: tabular-nums; }
    summary { cursor: pointer; font-size: 0.875rem; color: var(--link); width: fit-content; padding: 0.3rem
      0; }
    .timeline { border-left: 2px solid var(--line); margin-left: 0.4rem; display: grid; gap: 1rem; }
    .timeline li { position: relative; padding-left: 1.4rem; display: grid;
      grid-template-columns: minmax(10rem, 15rem) 1fr; gap: 0 1.5rem; }
    .timeline li::before { content: ""; position: absolute; left: -0.45rem; top: 0.45rem; width: 0.75rem;
      height: 0.75rem; border-radius: 50%; background: var(--surface); border: 2px solid var(--strong-line); }
    .timeline li.good::before { background: var(--good); border-color: var(--good); }
    .timeline li.bad::before { background: var(--bad); border-color: var(--bad); }
    .timeline li.pending::before { border-color: var(--pending); }
    .timeline li.waiting::before { border-color: var(--waiting); }
    .timeline time { font-size: 0.875rem; font-variant-numeric: tabular-nums; }
    .exact, .ago { display: block; }
    .ago { color: var(--soft); }
    .step { min-width: 0; overflow-wrap: anywhere; }
    .raw { background: var(--sunken); border-radius: 8px; padding: 0.8rem 1rem; overflow: auto;
      max-height: 32rem; }
    .raw pre { font-size: 0.875rem; white-space: pre; }
    .raw code { font-size: inherit; overflow-wrap: normal; }

    """

  private static let tables = """
    table { width: 100%; border-collapse: collapse; background: var(--surface); font-size: 0.9375rem; }
    main > table { border: 1px solid var(--line); border-radius: 12px; border-collapse: separate;
      border-spacing: 0; }
    main > table thead th:first-child { border-top-left-radius: 11px; }
    main > table thead th:last-child { border-top-right-radius: 11px; }
    main > table tbody tr:last-child > :first-child { border-bottom-left-radius: 11px; }
    main > table tbody tr:last-child > :last-child { border-bottom-right-radius: 11px; }
    caption { text-align: left; font-size: 0.875rem; color: var(--soft); padding: 0 0 0.5rem; }
    th, td { text-align: left; vertical-align: top; padding: 0.6rem 1rem; font-weight: 400;
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
    dl > div { display: grid; grid-template-columns: 9rem 1fr; gap: 0 1.5rem; padding: 0.45rem 0;
      border-top: 1px solid var(--line); }
    dl > div:first-child { border-top: 0; }
    dt { color: var(--soft); }
    dd { min-width: 0; overflow-wrap: anywhere; }

    """

  private static let forms = """
    .filters { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.8rem;
      align-items: end; }
    .field { display: grid; gap: 0.25rem; }
    label { font-size: 0.8125rem; font-weight: 600; color: var(--soft); }
    input, select {
      font: inherit; color: var(--text); background: var(--surface); width: 100%; min-height: 2.6rem;
      padding: 0.4rem 0.7rem; border: 1px solid var(--strong-line); border-radius: 8px;
    }
    .help { font-size: 0.875rem; color: var(--soft); }
    .find { display: flex; gap: 0.5rem; margin-left: auto; padding: 0.5rem 0; flex: 0 1 20rem; }
    .find input { min-width: 0; min-height: 2.2rem; }
    .find input::placeholder { color: var(--soft); opacity: 1; }
    .find button { min-height: 2.2rem; padding: 0.2rem 0.9rem; }
    button, .button {
      display: inline-flex; align-items: center; justify-content: center; font: inherit; font-weight: 600;
      color: var(--on-link); background: var(--link); border: 1px solid var(--link); border-radius: 8px;
        min-height: 2.6rem; padding: 0.45rem 1.1rem;
      text-decoration: none; cursor: pointer;
    }
    button:hover, .button:hover { filter: brightness(1.08); }
    .button.quiet { color: var(--text); background: transparent; border-color: var(--strong-line); }
    .button.small { min-height: 2.2rem; padding: 0.2rem 0.8rem; font-size: 0.875rem; }
    .actions { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
    .confirm { max-width: 40rem; }
    [role=search] > .actions { margin-top: 0.8rem; }
    .summary { color: var(--soft); }
    .pages { display: flex; gap: 1.5rem; }
    .pages .next { margin-left: auto; }

    """

  private static let narrow = """
    @media (max-width: 44rem) {
      .bar, main, footer { padding-left: 1rem; padding-right: 1rem; }
      .bar { column-gap: 1rem; }
      .brand { padding: 0.7rem 0 0; }
      header nav, .find { width: 100%; flex: none; }
      .find { padding: 0 0 0.6rem; }
      header nav ul { margin: 0 -0.5rem; }
      header nav a { padding: 0.7rem 0.5rem; }
      main { padding-top: 1.25rem; gap: 1rem; }
      .card { padding: 1rem; }
      .tiles { grid-template-columns: repeat(2, 1fr); }
      .charts { grid-template-columns: 1fr; }
      .filters { grid-template-columns: repeat(2, 1fr); }
      .filters .actions { grid-column: 1 / -1; }
      .timeline li { grid-template-columns: 1fr; }
      .exact, .ago { display: inline; }
      dl > div { grid-template-columns: 5.5rem 1fr; gap: 0 0.75rem; }
      main > table, main > table tbody, main > table tr, main > table th, main > table td { display: block; }
      main > table thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path:
        inset(50%); }
      main > table, main > table caption { border: 0; background: transparent; display: block; }
      main > table tr { background: var(--surface); border: 1px solid var(--line); border-radius: 10px;
        padding: 0.6rem 1rem; margin-bottom: 0.75rem; }
      main > table th, main > table td { border: 0; padding: 0.2rem 0; text-align: left; }
      main > table .number { text-align: left; }
      main > table tbody th code { white-space: normal; overflow-wrap: anywhere; }
      main > table td { display: grid; grid-template-columns: 6rem 1fr; gap: 0 0.75rem; }
      main > table td::before { content: attr(data-label); color: var(--soft); font-size: 0.875rem; }
      main > table td > * { min-width: 0; justify-self: start; }
    }
    @media (forced-colors: active) {
      rect.good { fill: CanvasText; }
      rect.bad { fill: Mark; }
      .badge, .notice, .card, .tile { border: 1px solid; }
    }

    """
}
