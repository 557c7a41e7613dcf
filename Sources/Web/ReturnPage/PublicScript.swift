// The script of pages that wait, embedded in each of them. It requests the page again and replaces the parts
// that changed. The state is a live region (`role=status`), so screen readers read out a change and nothing
// else: no reload moves their reader to the top (WCAG 2.2, failure F41). The focus stays on its link.
//
// How often it asks, the server says in `data-seconds`: `ReturnPage.refreshSeconds`.
//
// It compares what the server sent before with what it sends now, and not with the page, which a translator
// in the browser may have changed. After a failed request it waits longer, up to a minute and at random, so
// that open pages do not all return to a relay that starts; after three, the page shows its link.
//
// Safari 15 and WebViews before Chromium 103 have no AbortSignal.timeout, so it uses nothing newer than
// Safari 13.1 and Chromium 80 have. A browser that cannot parse it shows the link at once.

enum PublicScript {
  static let text: StaticString = """
    (()=>{"use strict";const main=document.querySelector("main"),parts=["state","ways","help"],seen={};\
    let timer,failures=0;\
    for(const id of parts)seen[id]=document.getElementById(id).innerHTML;\
    const wait=()=>{clearTimeout(timer);const seconds=Number(main.dataset.seconds);\
    main.classList.toggle("stuck",seconds>0&&failures>2);\
    const pause=failures?Math.min(60,seconds*2**failures)*(.5+Math.random()/2):seconds;\
    if(seconds)timer=setTimeout(check,Math.max(seconds,pause)*1000)};\
    const check=async()=>{clearTimeout(timer);if(document.hidden||!main.dataset.seconds)return;\
    main.classList.remove("busy");void main.offsetWidth;main.classList.add("busy");\
    const stop=new AbortController,late=setTimeout(()=>stop.abort(),10000);\
    try{const reply=await fetch(location.href,{cache:"no-store",signal:stop.signal});\
    if(!reply.ok)throw reply;\
    show(new DOMParser().parseFromString(await reply.text(),"text/html"));failures=0}\
    catch{failures++}clearTimeout(late);wait()};\
    const show=next=>{for(const id of parts){\
    const old=document.getElementById(id),now=next.getElementById(id);\
    if(seen[id]===now.innerHTML)continue;seen[id]=now.innerHTML;\
    const at=[...old.querySelectorAll("a")].indexOf(document.activeElement);\
    old.className=now.className;old.textContent="";old.append(...now.childNodes);\
    if(at>=0)old.querySelectorAll("a")[at]?.focus({preventScroll:true})}\
    document.title=next.title;main.dataset.seconds=next.querySelector("main").dataset.seconds??""};\
    main.classList.add("live");\
    document.addEventListener("visibilitychange",check);\
    addEventListener("pageshow",event=>{if(event.persisted)check()});wait()})()
    """
}
