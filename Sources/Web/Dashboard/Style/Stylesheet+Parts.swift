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
    .badge.failed { color: var(--text); box-shadow: inset 0 0 0 1px var(--strong-line); }
    .badge.alarm { color: var(--bad); background: var(--bad-soft); }
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
      display: grid; gap: 0.1rem; }
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
    summary { cursor: pointer; font-size: 0.875rem; color: var(--link); width: fit-content; padding: 0.3rem
      0; }
    .timeline { border-left: 2px solid var(--line); margin-left: 0.4rem; display: grid; gap: 0.7rem; }
    .timeline li { position: relative; padding-left: 1.4rem; display: grid;
      grid-template-columns: minmax(10rem, 15rem) 1fr; gap: 0 1.5rem; }
    .timeline li::before { content: ""; position: absolute; left: -0.45rem; top: 0.4rem; width: 0.75rem;
      height: 0.75rem; border-radius: 50%; background: var(--surface); border: 2px solid var(--strong-line); }
    .timeline li.good::before { background: var(--good); border-color: var(--good); }
    .timeline li.bad::before { background: var(--text); border-color: var(--text); border-radius: 2px; }
    .timeline li.pending::before { border-color: var(--pending); }
    .timeline li.waiting::before { border-color: var(--waiting); }
    .timeline time { font-size: 0.875rem; font-variant-numeric: tabular-nums; }
    .exact, .ago { display: block; }
    .ago { color: var(--soft); }
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
