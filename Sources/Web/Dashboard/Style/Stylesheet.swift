// The stylesheet of the dashboard: one file, no fonts, no pictures; light and dark according to the system's
// setting. All text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3). Red is only for what is new or grows.

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
    bdi { overflow-wrap: anywhere; }
    table bdi, table code { overflow-wrap: break-word; }
    :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
    main:focus { outline: none; }
    @media (prefers-reduced-motion: no-preference) {
      a, button, .tile { transition: background-color 120ms, border-color 120ms; }
    }

    """
}
