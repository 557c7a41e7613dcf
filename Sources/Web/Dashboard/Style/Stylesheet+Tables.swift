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
    .pages { display: flex; gap: 1.5rem; }
    .pages .next { margin-left: auto; }

    """
}
