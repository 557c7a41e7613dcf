// The stylesheet of the public pages, embedded in each page. Light and dark according to the system's
// setting. All text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3), every target has at least 44 px
// (2.5.5).

enum PublicStylesheet {
  static let text: StaticString = """
    :root{color-scheme:light dark;--page:#f3f4f7;--card:#fff;--edge:#e3e6eb;--text:#171c24;--soft:#545d6b;\
    --link:#0b57b0;--on-link:#fff;--good:#0f7a43;--wait:#0b57b0;--heed:#94540a}
    @media (prefers-color-scheme:dark){
    :root{--page:#0d1015;--card:#171b22;--edge:#2a303a;--text:#eceff4;--soft:#a4adbb;\
    --link:#84b9ff;--on-link:#0a1526;--good:#5fd394;--wait:#84b9ff;--heed:#f2b25c}
    }
    *{box-sizing:border-box}
    body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;\
    background:var(--page);color:var(--text);font:1.0625rem/1.55 system-ui,-apple-system,"Segoe UI",\
    Roboto,sans-serif;overflow-wrap:anywhere}
    header{padding:1.5rem 1.25rem 0;text-align:center;color:var(--soft);font-weight:600}
    header p{margin:0}
    main{width:100%;max-width:30rem;margin:auto;padding:2rem 1.25rem}
    main>div{text-align:center}
    h1{margin:0 0 .75rem;font-size:1.625rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
    p{margin:0 0 1rem;text-wrap:pretty}
    .note{color:var(--soft);font-size:.9375rem}
    a{color:var(--link);border-radius:.75rem}
    a:focus-visible{outline:3px solid var(--link);outline-offset:3px}
    .button{display:block;margin-top:1.75rem;padding:.875rem 1.25rem;background:var(--link);\
    color:var(--on-link);border:1px solid transparent;font-weight:600;text-align:center;\
    text-decoration:none}
    .button:hover{filter:brightness(1.08)}
    ul{list-style:none;margin:0;padding:0}
    li a{display:block;padding:.75rem .5rem;font-size:.9375rem;text-align:center;text-wrap:balance;\
    text-underline-offset:.2em}
    .mark{position:relative;width:4rem;height:4rem;margin:0 auto 1.5rem;border-radius:50%;\
    color:var(--wait);background:color-mix(in srgb,currentColor 14%,transparent)}
    .good{color:var(--good)}
    .attention{color:var(--heed)}
    .mark:after{content:"";position:absolute}
    .good:after{left:1.45rem;top:.8rem;width:.9rem;height:1.6rem;border:solid;border-width:0 .25rem .25rem 0;\
    border-radius:.1rem;transform:rotate(45deg)}
    .waiting:after{left:1.75rem;top:1.75rem;width:.5rem;height:.5rem;border-radius:50%;\
    background:currentColor;box-shadow:-1rem 0,1rem 0}
    .attention:after{left:1.8rem;top:1rem;width:.4rem;height:2rem;border-radius:.2rem;\
    background:linear-gradient(currentColor 62%,transparent 62% 78%,currentColor 78%)}
    @media (min-width:40rem){
    main{margin:auto;padding:3rem 2.5rem;background:var(--card);border:1px solid var(--edge);\
    border-radius:1.25rem}
    body{padding-bottom:4rem}
    }
    """
}
