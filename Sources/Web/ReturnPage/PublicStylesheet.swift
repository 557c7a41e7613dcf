// The stylesheet of the public pages, embedded in each page. Light and dark according to the system's
// setting. All text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3), every target has at least 44 px
// (2.5.5). Contrast themes (forced colours) replace backgrounds: those that carry a picture are kept. What
// moves stops after a second (2.2.2), and does not move for readers who want that.

enum PublicStylesheet {
  // The backgrounds are those of `PageMode`, by which configured colours are checked.
  static let text: StaticString = """
    :root{color-scheme:light dark;--page:#f3f4f7;--card:#ffffff;--edge:#e3e6eb;--text:#171c24;--soft:#545d6b;\
    --link:#0b57b0;--on-link:#fff;--good:#0f7a43;--wait:#0b57b0;--heed:#94540a}
    @media (prefers-color-scheme:dark){
    :root{--page:#0d1015;--card:#171b22;--edge:#2a303a;--text:#eceff4;--soft:#a4adbb;\
    --link:#84b9ff;--on-link:#0a1526;--good:#5fd394;--wait:#84b9ff;--heed:#f2b25c}
    }
    @media (prefers-color-scheme:dark),(forced-colors:active){
    header img{background:#fff;padding:.5rem;border-radius:.5rem;forced-color-adjust:none}
    }
    *{box-sizing:border-box}
    body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;\
    background:var(--page);color:var(--text);font:1.0625rem/1.55 system-ui,-apple-system,"Segoe UI",\
    Roboto,sans-serif;overflow-wrap:anywhere}
    header{padding:1.5rem 1.25rem 0;text-align:center;color:var(--soft);font-weight:600}
    header p{margin:0}
    header img{display:block;max-width:min(12rem,100%);max-height:4rem;margin:auto}
    main{width:100%;max-width:30rem;margin:0 auto auto;padding:clamp(1.5rem,8vh,4rem) 1.25rem 2rem}
    #state,.phone,#help{text-align:center}
    h1{margin:0 0 .75rem;font-size:1.625rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
    h2{margin:1.75rem 0 .25rem;font-size:1.1875rem;line-height:1.3;text-wrap:balance}
    :lang(ar) h1{letter-spacing:0}
    :lang(ko){word-break:keep-all}
    p{margin:0 0 1rem;text-wrap:pretty}
    .note,.phone p,#help{color:var(--soft);font-size:.9375rem}
    .note,.live #again{display:none}
    .live .note,.live.stuck #again{display:block}
    a{color:var(--link);border-radius:.75rem}
    a:focus-visible{outline:3px solid var(--link);outline-offset:3px}
    .button{display:block;margin-top:1.75rem;padding:.875rem 1.25rem;background:var(--link);\
    color:var(--on-link);border:1px solid transparent;font-size:1.0625rem;font-weight:600;text-align:center;\
    text-decoration:none}
    .offer .button{width:100%;margin-top:0;font-family:inherit;border-radius:.75rem;cursor:pointer}
    .button:hover{text-decoration:underline}
    ul{list-style:none;margin:0;padding:0}
    li a,.again,#help a{display:block;padding:.75rem .5rem;font-size:.9375rem;text-align:center;\
    text-wrap:balance;text-underline-offset:.2em}
    dl{margin:0 0 1.25rem;padding:.25rem 1rem;border:1px solid var(--edge);border-radius:.75rem;\
    background:var(--card);text-align:start}
    dl div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1.5rem;padding:.5rem 0}
    dl div+div{border-top:1px solid var(--edge)}
    dt{color:var(--soft)}
    dd{margin:0;font-weight:600}
    .phone{display:none}
    .sole .phone{display:block}
    @media (hover:hover) and (pointer:fine){
    .either .phone{display:block}
    .either .here{display:none}
    }
    .qr{display:block;width:13rem;max-width:100%;margin:0 auto 1rem;background:#fff;border-radius:.75rem}
    .qr path{stroke:#000}
    #help:not(:empty){margin-top:1rem;padding-top:.5rem;border-top:1px solid var(--edge)}
    #help p{margin:0}
    code{font:.875rem ui-monospace,Menlo,Consolas,monospace;user-select:all}
    .mark{position:relative;width:4rem;height:4rem;margin:0 auto 1.5rem;border-radius:50%;\
    color:var(--wait);background:color-mix(in srgb,currentColor 14%,transparent)}
    .good{color:var(--good)}
    .stopped{color:var(--soft)}
    .attention{color:var(--heed)}
    .mark:before,.mark:after{position:absolute}
    .mark:after{content:""}
    .good:after{left:1.45rem;top:.8rem;width:.9rem;height:1.6rem;border:solid;border-width:0 .25rem .25rem 0;\
    border-radius:.1rem;transform:rotate(45deg)}
    .waiting:after{left:1.75rem;top:1.75rem;width:.5rem;height:.5rem;border-radius:50%;\
    background:currentColor;box-shadow:-1rem 0,1rem 0}
    .stopped:before{content:""}
    .stopped:before,.stopped:after{left:1.1rem;top:1.875rem;width:1.8rem;height:.25rem;border-radius:.1rem;\
    background:currentColor;transform:rotate(45deg)}
    .stopped:after{transform:rotate(-45deg)}
    .attention:after{left:1.8rem;top:1rem;width:.4rem;height:2rem;border-radius:.2rem;\
    background:linear-gradient(currentColor 62%,transparent 62% 78%,currentColor 78%)}
    @media (forced-colors:active){
    .qr,.mark,.mark:before,.mark:after{forced-color-adjust:none}
    .mark{color:CanvasText}
    }
    @media (prefers-reduced-motion:no-preference){
    .busy .waiting:before{content:"";inset:0;border:.2rem solid transparent;border-top-color:currentColor;\
    border-radius:50%;opacity:0;animation:turn 1s linear}
    }
    @keyframes turn{from{opacity:1}to{opacity:1;transform:rotate(1turn)}}
    @media (min-width:40rem) and (min-height:30rem){
    header{padding-top:2.5rem}
    main{margin:clamp(1.5rem,10vh,6rem) auto auto;padding:3rem 2.5rem;background:var(--card);\
    border:1px solid var(--edge);border-radius:1.25rem}
    body{padding-bottom:4rem}
    }
    @media (orientation:landscape) and (min-width:36rem) and (max-height:29.99rem){
    header{padding-top:.75rem}
    main{max-width:54rem;padding:1rem 1.5rem;display:grid;grid-template-columns:1fr 1fr;gap:0 2.5rem;\
    align-content:center}
    #state{grid-row:1/9;align-self:center}
    #ways{align-self:end}
    .mark{margin-bottom:.75rem}
    .button{margin-top:0}
    h2{margin-top:0}
    }
    """
}
