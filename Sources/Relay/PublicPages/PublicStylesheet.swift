// How the public pages look; stands in each of them. Light and dark as the reader's system has it; every pair
// of colours that text is made of has a contrast of at least 4.5 (WCAG 2.2, 1.4.3), every target at least 44
// px (2.5.5).

/// The public pages' stylesheet.
enum PublicStylesheet {
  static let text: StaticString = """
    :root{color-scheme:light dark;--page:#f5f6f8;--text:#1a1f26;--link:#0f5bb5;--on-link:#fff}
    @media (prefers-color-scheme:dark){
    :root{--page:#0e1116;--text:#e7ebf0;--link:#79b4ff;--on-link:#0b1220}
    }
    body{margin:0;background:var(--page);color:var(--text);font:1.0625rem/1.5 system-ui,sans-serif}
    main{max-width:30rem;margin:0 auto;padding:3rem 1.25rem}
    h1{font-size:1.5rem;line-height:1.25}
    a{color:var(--link);display:inline-block;padding:.6rem 0;min-height:1.5rem}
    .button{display:block;padding:.9rem 1.25rem;border-radius:.75rem;background:var(--link);
    color:var(--on-link);font-weight:600;text-align:center;text-decoration:none}
    ul{list-style:none;margin:0;padding:0}
    """
}
