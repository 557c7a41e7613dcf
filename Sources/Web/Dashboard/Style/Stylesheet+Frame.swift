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
    .live-numbers iframe { height: 12.2rem; }
    .live-job iframe { height: 4.6rem; }
    .live-job, .live { font-variant-numeric: tabular-nums; }
    @container (min-width: 40rem) {
      .live-numbers iframe { height: 4.2rem; }
      .live-job iframe { height: 2.9rem; }
    }
    @media (min-width: 40rem) { .numbers { grid-template-columns: repeat(6, 1fr); } }
    @container (min-width: 40rem) { .numbers { grid-template-columns: repeat(6, 1fr); } }

    """
}
